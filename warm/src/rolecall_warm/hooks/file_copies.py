"""Gives away what a file was parsed to, instead of a copy of it.

Ansible keeps what it loads for the next load of the same file, and so hands out copies. A copy takes
three times as long as parsing with libyaml, a fourteenth of a run of four tasks, and nearly all files
are loaded once. So here the first load of a file gets the data themselves, and for the next one the
text is parsed again (Ansible warns of the same thing only once). Encrypted files are left to Ansible,
which marks what came from them.
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

_MARK_OF_ENCRYPTED = "SourceWasEncrypted"

Parse = Callable[[], Any]


class FileCopies:
    """Stands in for what `DataLoader` does with a file, and for the `copy` of its module."""

    def __init__(self, tags_of: Callable[[str], Any]) -> None:
        self._tags_of = tags_of
        # By loader, which is held so that no other one gets its number, and path.
        self._given: dict[tuple[int, str], tuple[Any, Parse]] = {}
        self._is_loading_file = False
        self._parse: Parse | None = None  # again what is being loaded, where that may be given away

    def __getattr__(self, name: str) -> Any:
        return getattr(copy, name)

    def deepcopy(self, data: Any) -> Any:
        """The stand-in for `copy.deepcopy`."""
        return data if self._parse is not None else copy.deepcopy(data)

    def load(
        self, original: Callable[..., Any], loader: Any, data: Any, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `DataLoader.load`."""
        if self._is_loading_file and not self._was_encrypted(data, more):
            self._parse = functools.partial(original, loader, data, *args, **more)
        return original(loader, data, *args, **more)

    def load_from_file(
        self,
        original: Callable[..., Any],
        loader: Any,
        file_name: str,
        cache: str = "all",
        unsafe: bool = False,
        **more: Any,
    ) -> Any:
        """The stand-in for `DataLoader.load_from_file`; `unsafe` asks for what is kept, not a copy."""
        key = (id(loader), loader.path_dwim(file_name))
        if cache != "none" and key in self._given:
            return self._again(key, unsafe=unsafe)
        if unsafe:
            return original(loader, file_name, cache=cache, unsafe=unsafe, **more)
        with self._loading_file():
            data = original(loader, file_name, cache=cache, unsafe=unsafe, **more)
            if self._parse is not None and cache == "all":
                self._given[key] = (loader, self._parse)
                del loader._FILE_CACHE[key[1]]
        return data

    def _again(self, key: tuple[int, str], *, unsafe: bool) -> Any:
        loader, parse = self._given[key]
        data = parse()
        if unsafe:  # shared from now on, as Ansible does
            del self._given[key]
            loader._FILE_CACHE[key[1]] = data
        return data

    @contextlib.contextmanager
    def _loading_file(self) -> Iterator[None]:
        self._is_loading_file, self._parse = True, None
        try:
            yield
        finally:
            self._is_loading_file, self._parse = False, None

    def _was_encrypted(self, text: Any, more: dict[str, Any]) -> bool:
        tags = self._tags_of(text) or ()
        is_marked = any(type(tag).__name__ == _MARK_OF_ENCRYPTED for tag in tags)
        return is_marked or more.get("show_content") is False
