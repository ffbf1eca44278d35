"""The private namespaces in which a whole cluster lives, and the way into them.

Pid 1 of the enclosure does nothing but bury the dead. When it ends, the kernel ends every process in
it, and with the last one go all mounts, links, bridges and firewall rules: there is no list of things
to undo, so none can be forgotten, however the cluster ended.

Programs are started from outside through `nsenter`, which stays as their parent on the machine's side,
so exit codes and logs work as for any other component.

Three kinds of things would still reach the machine; each is covered from inside:
- folders with fixed names (`/var/lib/kubelet` and the like) have a tmpfs over them;
- kernel settings that the kubelet insists on have a file over them that holds what it wants to read, so
  it writes nothing. Rejected: saving and restoring, which two clusters or one crash get wrong;
- `/run`, with the sockets of the machine's own services.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.layout import Layout
from rolecall_dev.localcluster.processes import Command, Running
from rolecall_dev.localcluster.real.probe import SEARCH, find_program
from rolecall_dev.localcluster.system import attempts, captured

ENCLOSURE = "enclosure"
# Made where they are missing, and marked, so that the last cluster removes what clusters made.
FIXED_FOLDERS = tuple(Path(f"/var/{each}") for each in ("lib/kubelet", "lib/cni", "log/containers"))
MARK = ".made-by-rolecall"
_START_S = 10.0
_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def nodes_folder(layout: Layout) -> Path:
    """Everything that nodes store, in memory: it is gone with the enclosure."""
    return layout.folder / "nodes"


def start_enclosure(layout: Layout, first: Path) -> int:
    """Make the namespaces; returns the pid of the first process, as the machine counts."""
    if layout.folder.is_relative_to("/run"):
        raise InputError(
            f"state folder `{layout.folder}` is in /run, which a cluster with real nodes"
            " replaces with its own",
            hint="set ROLECALL_STATE to a folder on a disk",
        )
    unshare = [find_program("unshare"), "--fork", "--kill-child", "--pid", "--mount", "--net"]
    argv = [*unshare, "--mount-proc", "--propagation", "private", str(first)]
    outer = processes.start(Command(ENCLOSURE, argv, layout.folder))
    for _ in attempts(_START_S, 0.005):
        if (pid := _settled_child(outer, first)) is not None:
            _cover(layout, pid)
            return pid
        if (code := processes.exit_code(outer)) is not None:
            break
    words = (layout.logs / f"{ENCLOSURE}.log").read_text().strip()
    raise ClusterError(f"no namespaces could be made (unshare ended with {code}): {words}")


def find_enclosure(layout: Layout) -> int | None:
    """The pid of the first process, None when the enclosure is gone."""
    found = innermost(processes.find(layout.folder)).get(ENCLOSURE)
    return None if found is None else found.pid


def innermost(found: Sequence[Running]) -> Mapping[str, Running]:
    """Of each component the program itself: neither the `nsenter` that started it, nor its children.

    A component's children carry its marks as well: the shims of containers above all.
    """
    wrappers = {one.pid: one for one in found if _is_wrapper(one.pid)}
    programs = {}
    for one in found:
        wrapper = wrappers.get(_parent(one.pid))
        if wrapper is not None and wrapper.component == one.component and one.pid not in wrappers:
            programs[one.component] = one
    return programs


def entering(pid: int, argv: Sequence[str]) -> list[str]:
    """The command line that runs another one inside."""
    enter = [find_program("nsenter"), f"--target={pid}", "--pid", "--mount", "--net"]
    # TMPDIR may name a folder that its owner watches or removes.
    return [*enter, find_program("env"), "-u", "TMPDIR", f"PATH={SEARCH}", *argv]


def run_inside(pid: int, argv: Sequence[str]) -> str:
    """Run something short inside; returns what it printed."""
    result = captured(entering(pid, argv))
    if result.returncode:
        words = result.stderr.strip() or result.stdout.strip()
        raise ClusterError(f"`{shlex.join(argv)[:200]}` failed in the cluster: {words[-600:]}")
    return result.stdout


def _cover(layout: Layout, pid: int) -> None:
    """Put private mounts over everything that is fixed and would be the machine's."""
    settings = layout.folder / "settings"
    settings.mkdir()
    nodes_folder(layout).mkdir()
    # Shared, so that mounts that the kubelet makes reach containers that want them.
    script = ["set -e", "mount --make-rshared /", "mount -t tmpfs -o mode=755 rolecall /run"]
    for folder in FIXED_FOLDERS:
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / MARK).touch()
        script.append(f"mount -t tmpfs -o mode=755 rolecall {folder}")
    script.append(f"mount -t tmpfs -o mode=755 rolecall {shlex.quote(str(nodes_folder(layout)))}")
    for name, value in _SETTINGS.items():
        file = settings / name.replace("/", ".")
        file.write_text(f"{value}\n")
        script.append(f"mount --bind {shlex.quote(str(file))} /proc/sys/{name}")
    run_inside(pid, ["sh", "-c", "\n".join(script)])


def _settled_child(outer: int, first: Path) -> int | None:
    """The only child, once it has become the program: from then on its mounts are made."""
    try:
        child = int(Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0])
        return child if Path(f"/proc/{child}/exe").readlink() == first else None
    except (OSError, IndexError):
        return None


def _is_wrapper(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name in ("nsenter", "unshare")
    except OSError:
        return False


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])
