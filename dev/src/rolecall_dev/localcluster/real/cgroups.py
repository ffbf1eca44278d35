"""The cgroups of a real cluster's pods, in whichever version this machine has.

With version 1 every controller is a tree of its own, and one folder is made in each; cpuset must be
filled in by hand before anything can run there. With version 2 there is one tree, and a folder can
only hand on what its parent enables. A machine that mounts both ("hybrid") counts as version 1 when the
controllers are there.

The kubelet does the rest below its own folder. Emptied folders are all that a killed cluster leaves.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_NEEDED = ("cpu", "cpuset", "memory", "pids")
# All pods together count like so many processes of the machine; like one, they starve on a busy one.
_WEIGHT = 20


@dataclass(frozen=True, slots=True)
class Cgroups:
    """What the kernel offers at a root folder."""

    root: Path = ROOT

    @property
    def version(self) -> int:
        """1 or 2, by where the controllers are; 0 when there are none."""
        if (self.root / "cgroup.controllers").exists():
            return 2
        return 1 if (self.root / "memory").is_dir() else 0

    def missing(self) -> list[str]:
        """Controllers that a kubelet needs and this machine does not have."""
        if self.version == 2:
            present = (self.root / "cgroup.controllers").read_text().split()
        else:
            present = [part for tree in self._trees() for part in tree.name.split(",")]
        return [name for name in _NEEDED if name not in present]

    def make(self, name: str, node: str) -> None:
        """Folders `name/node`, in which a kubelet can work."""
        if self.version == 2:
            self._hand_on(self.root)
            (self.root / name).mkdir(exist_ok=True)
            _give_weight(self.root / name)
            self._hand_on(self.root / name)
            (self.root / name / node).mkdir(exist_ok=True)
            return
        for tree in self._trees():
            for folder in (tree / name, tree / name / node):
                folder.mkdir(exist_ok=True)
                _inherit_cpuset(folder)
            _give_weight(tree / name)

    def freeze(self, name: str, node: str, *, frozen: bool) -> None:
        """Stop the clock of every container of a node, or let it go on."""
        if self.version == 2:
            (self.root / name / node / "cgroup.freeze").write_text(str(int(frozen)))
        else:
            state = self.root / "freezer" / name / node / "freezer.state"
            state.write_text("FROZEN" if frozen else "THAWED")

    def remove(self, name: str) -> bool:
        """Remove the folders with all below; False while something still runs in one."""
        tops = [tree / name for tree in self._trees()] if self.version == 1 else [self.root / name]
        for top in tops:
            for folder, _, _ in os.walk(top, topdown=False):
                with suppress(OSError):
                    Path(folder).rmdir()
        return not any(top.exists() for top in tops)

    def _trees(self) -> list[Path]:
        # Some are links to others (`cpu -> cpu,cpuacct`).
        return sorted(
            each for each in self.root.iterdir() if each.is_dir() and not each.is_symlink()
        )

    def _hand_on(self, folder: Path) -> None:
        """Enable for the children whatever the folder itself has."""
        present = (folder / "cgroup.controllers").read_text().split()
        enabled = (folder / "cgroup.subtree_control").read_text().split()
        for controller in present:
            if controller not in enabled:
                (folder / "cgroup.subtree_control").write_text(f"+{controller}")


def _give_weight(folder: Path) -> None:
    for name, of_one in (("cpu.shares", 1024), ("cpu.weight", 100)):
        if (file := folder / name).exists():
            file.write_text(str(of_one * _WEIGHT))


def _inherit_cpuset(folder: Path) -> None:
    for name in ("cpuset.cpus", "cpuset.mems"):
        own, above = folder / name, folder.parent / name
        if own.exists() and not own.read_text().strip():
            own.write_text(above.read_text())
