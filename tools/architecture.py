"""Holds docs/architecture.md to the code: its rooms, their lines, and the two ways through them.

    .venv/bin/python -m tools.architecture            (part of `make check`)
    .venv/bin/python -m tools.architecture --write    writes lines and arrows anew

Rooms: each has its row, with its lines. Ways: a block of steps, each with a file; what stands on the
arrow between two of them is what the code says.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.imports import Package

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = (ROOT / "src" / "rolecall", ROOT / "dev" / "src" / "rolecall_dev")
# Distributions that are one room each.
SINGLE_ROOMS = tuple(ROOT / each / "src" / f"rolecall_{each}" for each in ("base", "warm"))
# Roles' modules, in the layout of Ansible; no room.
NO_ROOMS = ("collections",)
# A page that is wrong after each commit would be written anew with each commit.
OFF_BY = 100

_ROW = re.compile(r"^\| `([\w/]+)` \| ([\d,]+) \|", re.MULTILINE)
_WAY = re.compile(r"^```way\n(.*?)^```", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"([\w/]+\.py) +\S")
_ARROW = "    ↓ "
NOTHING = "nothing leads to"


def rooms(packages: Sequence[Path]) -> dict[str, Path]:
    """The folder of each room; those of the first package by their own name, as everywhere."""
    extensions = packages[0] / "extensions"
    above = {packages[0]: "", extensions: "extensions/"}
    return {
        above.get(folder, f"{folder.name}/") + entry.name: entry
        for folder in (*packages, extensions)
        for entry in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if (entry / "__init__.py").exists() and entry != extensions and entry.name not in NO_ROOMS
    }


def shown_rooms(page: str) -> dict[str, int]:
    """What the page says: lines by room, or by a part of a room such as `runner/warm`."""
    return {name: int(count.replace(",", "")) for name, count in _ROW.findall(page)}


def lines_of(page: str, packages: Sequence[Path]) -> dict[str, int]:
    """The lines of each room, and of each part that the page shows."""
    folders = rooms(packages)
    for name in shown_rooms(page):
        part = packages[0] / name
        if "/" in name and name not in folders and part.is_dir():
            folders[name] = part
    if packages == PACKAGES:
        folders |= {folder.name: folder for folder in SINGLE_ROOMS}
    return {name: lines_in(folder) for name, folder in folders.items()}


def lines_in(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def room_faults(page: str, packages: Sequence[Path]) -> Iterator[str]:
    """Rooms and rows."""
    lines, shown = lines_of(page, packages), shown_rooms(page)
    for name, count in lines.items():
        if name not in shown:
            yield f"room {name} has no row"
        elif abs(shown[name] - count) > OFF_BY:
            yield f"room {name} has {count} lines, not {shown[name]}: --write"
    for name in sorted(set(shown) - set(lines)):
        yield f"there is no room {name}"


@dataclass
class Code:
    """What the code says about two modules."""

    package: Package

    def module(self, file: str) -> str:
        """Of a file, written as in the page: below the package, or below a single room."""
        name = ".".join(Path(file).with_suffix("").parts)
        return name if name in self.package.files else f"{self.package.root}.{name}"

    def link(self, one: str, other: str) -> str:
        """How the one leads to the other; empty: not at all."""
        uses, known = self.package.uses, self.package.files
        if one not in known or other not in known:
            return ""
        if other in uses(one):
            return "uses"
        if one in uses(other):
            return "is used by"
        if self._starts(one, other):
            return "starts the process of"
        joint = [it for it in known if self._holds(it, one) and self._holds(it, other)]
        near = [it for it in joint if self._may_join(it, one, other)]
        if not near:
            return ""
        nearest = min(near, key=lambda it: (not {one, other} <= uses(it), it))
        return f"is connected by {nearest.removeprefix(self.package.root + '.')} to"

    def _starts(self, one: str, other: str) -> bool:
        """It names the other's file, and its folder where that is another one."""
        named, file = self.package.strings(one), self.package.files[other]
        is_near = file.parent == self.package.files[one].parent
        return file.name in named and (is_near or file.parent.name in named)

    def _holds(self, module: str, part: str) -> bool:
        """It uses the part, or something of the part's room that leads there within the room."""
        room = _room(part)
        seen = {it for it in self.package.uses(module) if _room(it) == room}
        waiting = list(seen)
        while waiting:
            further = {it for it in self.package.uses(waiting.pop()) if _room(it) == room} - seen
            seen |= further
            waiting += further
        return part in seen

    def _may_join(self, module: str, one: str, other: str) -> bool:
        """The wiring at the top, or a module of a room that both are in."""
        return module.count(".") == 1 or _room(module) == _room(one) == _room(other)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def way_faults(page: str, code: Code) -> Iterator[str]:
    """Files that are not there or more than one step, and steps that nothing connects."""
    blocks = _WAY.findall(page)
    if not blocks:
        yield "no way is drawn"
    for block in blocks:
        files = _files(block)
        for file in sorted(set(files)):
            if code.module(file) not in code.package.files:
                yield f"`{file}` is no module"
            elif files.count(file) > 1:
                yield f"`{file}` is more than one step"
    if NOTHING in page:
        yield f"`{NOTHING}` stands between two steps: the way is another one"
    elif _with_arrows(page, code) != page:
        yield "an arrow is not what the code says: --write"


def written(page: str, packages: Sequence[Path], code: Code) -> str:
    """The page with the lines and arrows of today."""
    lines = lines_of(page, packages)

    def row(match: re.Match[str]) -> str:
        count = lines.get(match[1])
        return match[0] if count is None else f"| `{match[1]}` | {round(count, -1):,} |"

    return _with_arrows(_ROW.sub(row, page), code)


def _with_arrows(page: str, code: Code) -> str:
    return _WAY.sub(lambda match: f"```way\n{_way(match[1], code)}```", page)


def _way(block: str, code: Code) -> str:
    text, before = "", ""
    for line in block.splitlines(keepends=True):
        if line.startswith(_ARROW):
            continue
        if found := _STEP.match(line):
            if before:
                link = code.link(code.module(before), code.module(found[1]))
                text += f"{_ARROW}{link or NOTHING}\n"
            before = found[1]
        text += line
    return text


def _files(block: str) -> list[str]:
    return [found[1] for line in block.splitlines() if (found := _STEP.match(line))]


def main(arguments: list[str]) -> int:
    code = Code(Package(PACKAGES[0], *SINGLE_ROOMS))
    if "--write" in arguments:
        PAGE.write_text(written(PAGE.read_text(), PACKAGES, code))
    page = PAGE.read_text()
    faults = [*room_faults(page, PACKAGES), *way_faults(page, code)]
    print("\n".join(f"docs/architecture.md: {fault}" for fault in faults))
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
