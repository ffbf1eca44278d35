"""Sees which files a run opens, and whether they are inputs that the engine knows of.

By Python's own audit events, which come for each `open` of the run child and its forks, in any code. An
audit hook cannot be taken off again: it is put in place in the run child alone.

Allowed are the project's files, what is installed, what the run itself was given, and what any process
reads of its machine. Not allowed are names that the engine does not look at, either (`is_counted`). A
path that the play itself names (`look_at`) must be of the project: what libraries may read of the
machine is no input when a role reads it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rolecall_base.purity import is_counted

# What libraries read of the machine, none of which says anything of a cluster.
_OF_THE_MACHINE = (
    "/dev/null",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/etc/ansible/ansible.cfg",
    "/etc/group",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/resolv.conf",
    "/etc/ssl/",
    "/etc/pki/",
    "/proc/self/",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/",
    "/usr/lib/ssl/",
    "/usr/share/zoneinfo/",
    "/var/run/secrets/kubernetes.io/",
    "/run/secrets/kubernetes.io/",
)
_COLLECTIONS = ("ansible/", "kubernetes/core/", "operator_sdk/util/", "rolecall/operator/")
_TEMPORARY = ("k8srcp-", "ansible", "rolecall", "tmp", "kube", "pymp-")
_LINK = "/rolecall-command-"  # in the path of a run's inventory, see `depth`
_WRITES = os.O_WRONLY | os.O_RDWR
_PROGRAMS = frozenset({"os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"})


class OpenedFiles:
    """The audit hook of a run child."""

    def __init__(self, core_folder: str, found: Callable[[str], None]) -> None:
        self._core_folder = core_folder
        self._found = found
        self._inputs: tuple[str, ...] = ()
        self._known: tuple[str, ...] = ()
        self._own: tuple[str, ...] = ()  # folders of this run
        self._temporary = ""
        self._asked: set[str | bytes] = set()

    def begin(self, inputs: tuple[str, ...], own: tuple[str, ...]) -> None:
        """Listen from now on; call once. `own` are files that the host writes notes in."""
        self._inputs = tuple(each for path in inputs for each in (path, f"{path}/"))
        self._temporary = tempfile.gettempdir()
        self._known = (*(path for path in own if path), *self._given())
        private = (str(Path.cwd().parent), os.environ.get("AWX_ISOLATED_DATA_DIR", ""))
        self._own = tuple(f"{path}/" for path in private if path not in ("", "/"))
        self._asked.clear()
        sys.addaudithook(self._on_event)

    def look_at(self, path: str) -> None:
        """Whether this file, there or not, is an input: the play names it."""
        whole = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
        if _LINK in whole:
            whole = os.path.realpath(whole)
        if not (self._is_input(whole) or whole.startswith(self._own) or _is_installed(whole)):
            self._found(f"it looks for `{path}`, which is not of the project")

    def _given(self) -> list[str]:
        """What the run was given, and what is installed."""
        # Of a Python its libraries alone: its prefix may be all of `/usr`.
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        folders = [*(sysconfig.get_path(name) for name in names), self._core_folder]
        folders += [f"{sys.base_prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}"]
        folders += [path for path in sys.path if path.startswith("/") and "/python" in path]
        folders += [os.environ.get("AWX_ISOLATED_DATA_DIR", ""), os.environ.get("KUBECACHEDIR", "")]
        folders += [str(Path.cwd().parent)]  # the private folder of the CR
        files = [os.environ.get(name, "") for name in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG")]
        files += [os.environ.get("ANSIBLE_CONFIG", "")]
        with_real = {each for path in folders if path for each in (path, os.path.realpath(path))}
        return [
            *(f"{path}/" for path in with_real if path != "/"),
            *(f"{self._temporary}/{name}" for name in _TEMPORARY),
            f"/tmp{_LINK}",  # noqa: S108 - made by mkdtemp
            *(path for path in files if path),
            *_OF_THE_MACHINE,
        ]

    def _on_event(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _mode, flags = args
            if not isinstance(path, int) and path not in self._asked:
                self._asked.add(path)
                self._judge(os.fsdecode(path), writes=bool(flags & _WRITES))
        elif event == "glob.glob":
            self._judge_glob(os.path.abspath(str(args[0]).partition("*")[0]))  # noqa: PTH100
        elif event in _PROGRAMS:
            self._found("a program is started")

    def _judge(self, path: str, *, writes: bool) -> None:
        path = os.path.abspath(path)  # noqa: PTH100 - of a text, without looking at the disk
        if path == self._temporary or path.startswith(self._known):
            return  # the folder itself is opened for a file without a name
        folder, _, name = path.rpartition("/")
        if folder.endswith("/__pycache__") and ".pyc" in name:
            return  # of a file that counts; Python writes `x.pyc.1234`, then renames it
        if not writes and self._is_input(path):
            return
        if _is_installed(path):
            return
        verb = "writes" if writes else "reads"
        self._found(f"it {verb} `{path}`, which is not of the project")

    def _judge_glob(self, path: str) -> None:
        is_installed = path.startswith(self._known) and not path.startswith(_OF_THE_MACHINE)
        if not (is_installed or self._is_input(path) or _is_installed(path)):
            self._found(f"it looks for files in `{path}`, which is not of the project")

    def _is_input(self, path: str) -> bool:
        for root in self._inputs:
            if path == root or (root.endswith("/") and path.startswith(root)):
                return all(is_counted(name) for name in path[len(root) :].split("/") if name)
        return False


def _is_installed(path: str) -> bool:
    _before, found, rest = path.rpartition("/ansible_collections/")
    return bool(found) and rest.startswith(_COLLECTIONS)
