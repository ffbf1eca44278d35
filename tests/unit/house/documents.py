"""What the documents of this repository name: paths, commands, make targets, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_SHELL = ("", "sh", "bash", "console", "shell")
# `<name>`, `{a,b}`, `$VAR`, `...`: a pattern for the reader, not the name of a file.
_PATTERN = re.compile(r"[<>{}$*…]|\.\.\.|\bNNNN\b|\bKIND\b|\bNAME\b")


@dataclass(frozen=True)
class Mention:
    """Something that a document names, and where."""

    document: Path
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}: `{self.text}`"


def documents() -> list[Path]:
    """README and docs, and the README of every folder for people."""
    folders = [entry for entry in ROOT.iterdir() if entry.is_dir() and entry.name[0] != "."]
    inner = [file for folder in folders for file in folder.glob("README.md")]
    inner += (ROOT / "roles").glob("*/README.md")
    return sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *inner})


def code(document: Path) -> Iterator[Mention]:
    """Everything between single backticks, outside of blocks."""
    for text in _CODE.findall(_FENCE.sub("", document.read_text())):
        yield Mention(document, text.strip())


def shell_lines(document: Path) -> Iterator[Mention]:
    """Commands in blocks of shell, and in single backticks."""
    for language, block in _FENCE.findall(document.read_text()):
        if language in _SHELL:
            for line in block.splitlines():
                yield Mention(document, re.sub(r"\s+#.*", "", line.strip().removeprefix("$ ")))
    yield from code(document)


def paths(document: Path) -> Iterator[Mention]:
    """What looks like a path of this repository: it begins with something at the top."""
    top = {entry.name for entry in ROOT.iterdir()} - {"build"}  # what tests leave there
    for mention in code(document):
        first, slash, _ = mention.text.partition("/")
        if slash and first in top and " " not in mention.text and not _PATTERN.search(mention.text):
            yield Mention(document, mention.text.split(":")[0])


def links(document: Path) -> Iterator[Mention]:
    """Links to other files."""
    for target in _LINK.findall(_FENCE.sub("", document.read_text())):
        if "://" not in target and not target.startswith("mailto:"):
            yield Mention(document, target)


def make_targets(document: Path) -> Iterator[Mention]:
    """The targets of `make ...`."""
    for mention in shell_lines(document):
        words = mention.text.split()
        if words[:1] == ["make"]:
            for word in words[1:]:
                if re.fullmatch(r"[a-z][a-z0-9-]*", word):
                    yield Mention(document, word)


def own_commands(document: Path) -> Iterator[Mention]:
    """Whole `rolecall ...` commands."""
    for mention in shell_lines(document):
        found = re.match(r"(?:\S*/)?rolecall( [^|;&>]*)", mention.text)
        if found:
            yield Mention(document, f"rolecall{found[1].rstrip()}")
