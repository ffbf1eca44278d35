"""The files that a host has loaded: by them it knows that it is out of date."""

from __future__ import annotations

import sys

from rolecall_base.file_stamp import Stamp, stamp_of


class LoadedFiles:
    """Each with how it looked; those of collections apart, since they are looked at for each run."""

    def __init__(self) -> None:
        self._collections: dict[str, Stamp | None] = {}
        self._libraries: dict[str, Stamp | None] = {}

    def note(self) -> None:
        """The files behind all that is imported by now."""
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path.endswith(".py"):
                of_collection = "/ansible_collections/" in path
                files = self._collections if of_collection else self._libraries
                if path not in files:
                    files[path] = stamp_of(path)

    def changed_collection(self) -> str:
        """A file that is not as it was; empty: none."""
        return _first_changed(self._collections)

    def changed_library(self) -> str:
        """The same for everything else; a few milliseconds."""
        return _first_changed(self._libraries)


def _first_changed(files: dict[str, Stamp | None]) -> str:
    return next((path for path, stamp in files.items() if stamp_of(path) != stamp), "")
