"""One word for each idea: what docs/glossary.md says not to say is nowhere said.

    .venv/bin/python -m tools.glossary          (part of `make check`)

The last column of its table holds the words that are not used: `word`, `word*` with any ending, or
several words in a row; in brackets after it, what it may be part of. Whole files are looked at,
names as well as comments and prose; names are taken apart at underscores and capitals.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
SUFFIXES = (".py", ".md")
# Their names are those of other programs, such as those of a scorecard: only plain English holds.
OTHER_SUFFIXES = (
    *(".yml", ".yaml", ".toml", ".js", ".html", ".j2", ".sh", ".go"),
    *(".importlinter", "Makefile", "Dockerfile"),
)
_PLAIN_ENGLISH = "\n## Plain English\n"
# The list itself, and examples of what is found.
NOT_HELD = (GLOSSARY, ROOT / "tests" / "unit" / "house" / "test_glossary.py")

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENTRY = re.compile(r"([^,(]+?)\s*(?:\(([^)]*)\))?\s*(?:,|$)")


@dataclass(frozen=True)
class Banned:
    """A word that is not used, and the phrases that are not meant by that."""

    word: str
    phrases: tuple[str, ...] = ()

    def count(self, words: str) -> int:
        """How often it stands in words that were taken apart."""
        for phrase in self.phrases:
            words = re.sub(rf"(?<= ){phrase}(?= )", "", words)
        return len(re.findall(rf"(?<= ){self.word.replace('*', '[a-z]*')}(?= )", words))


def banned(glossary: str) -> Iterator[Banned]:
    """The last column of each row of the table."""
    for row in re.findall(r"^\| \*.*\|$", glossary, re.MULTILINE):
        cell = row.strip("|").split("|")[-1].strip()
        for word, phrases in _ENTRY.findall(cell):
            yield Banned(word.strip(), tuple(one.strip() for one in phrases.split(",") if one))


def taken_apart(text: str) -> str:
    """Its words, in small letters, with one space around each."""
    return f" {' '.join(_PART.findall(text)).lower()} "


def faults(texts: Iterable[tuple[str, str]], words: Iterable[Banned]) -> list[str]:
    """One line for each file with a word that is not used."""
    everything = list(words)
    return [
        f"{name}: `{one.word}` ({count} x); see docs/glossary.md"
        for name, text in texts
        for apart in [taken_apart(text)]
        for one in everything
        if (count := one.count(apart))
    ]


def own_texts(suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[tuple[str, str]]:
    """What git knows or would add, with the name of the file, which is held too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if name.endswith(suffixes) and path.is_file() and path not in NOT_HELD:
            yield name, f"{name}\n{path.read_text()}"


def plain_english_of(glossary: str) -> str:
    """The section with the words that no text uses."""
    return glossary.partition(_PLAIN_ENGLISH)[2]


def main() -> int:
    glossary = GLOSSARY.read_text()
    lines = faults(own_texts(), banned(glossary))
    lines += faults(own_texts(OTHER_SUFFIXES), banned(plain_english_of(glossary)))
    print("\n".join(lines))
    return len(lines)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
