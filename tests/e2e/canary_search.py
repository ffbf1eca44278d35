"""Secrets that are looked for afterwards, in every form in which one could have got somewhere.

A canary is a random word. Values are built around it, with quotes, lines or letters of other scripts,
and whatever escapes them (JSON, a URL, a shell) leaves the word as it is. What base64 makes of it
depends on where the word begins within three bytes, so it is looked for in each of the three ways.
"""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_GROUP_BYTES = 3  # of which base64 makes four letters


@dataclass
class Canaries:
    """Words by the name of the place where each was planted."""

    words: dict[str, str] = field(default_factory=dict)

    def plant(self, name: str, word: str = "") -> str:
        """A new one; `word`: one that was made elsewhere."""
        return self.words.setdefault(name, word or f"canary{secrets.token_hex(12)}")

    def in_text(self, text: str | bytes) -> set[str]:
        """Names of those that stand in a text, in any form."""
        data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        return {
            name for name, word in self.words.items() if any(form in data for form in _forms(word))
        }

    def in_texts(self, texts: Mapping[str, str | bytes]) -> dict[str, set[str]]:
        """By place: which were found there; places without any are left out."""
        found = {place: self.in_text(text) for place, text in texts.items()}
        return {place: names for place, names in found.items() if names}

    def in_files(self, *folders: Path) -> dict[Path, set[str]]:
        """Files below these folders that hold some, or have some in their path."""
        found = {}
        for path in (path for folder in folders for path in files_below(folder)):
            names = self.in_text(os.fsencode(path)) | self.in_text(_read(path))
            if names:
                found[path] = names
        return found

    def in_processes(self, what: str) -> dict[str, set[str]]:
        """Processes of this machine whose `cmdline` or `environ` holds some, as far as we may look."""
        texts = {str(path): _read(path / what) for path in Path("/proc").glob("[0-9]*")}
        return self.in_texts(texts)


def files_below(folder: Path) -> Iterator[Path]:
    """All that is no folder, at the time of looking."""
    for where, _, names in os.walk(folder):
        yield from (Path(where, name) for name in names)


def _forms(word: str) -> Iterator[bytes]:
    raw = word.encode()
    yield raw
    for skipped in range(_GROUP_BYTES):
        inner = raw[skipped:]
        whole = inner[: len(inner) - len(inner) % _GROUP_BYTES]
        encoded = base64.b64encode(whole)
        yield encoded
        yield base64.urlsafe_b64encode(whole)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if not path.is_symlink() and not path.is_socket() else b""
    except OSError:
        return b""  # it went meanwhile, or is not ours
