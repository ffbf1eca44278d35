"""Sees which files a run opens, and whether they are inputs that the engine knows of.

By Python's own audit events, which come for each `open` of the run child and its forks, whoever calls
it. An audit hook cannot be taken off again: it is put in place in the run child alone.

Allowed are the project's files, what is installed, what the run itself was given, and what any process
reads of its machine. Names with a leading dot are not: the engine does not look at them, either.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What libraries read of the machine, none of which says anything of a cluster.
_OF_THE_MACHINE = (
    "/dev/",
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
    "/proc/",
    "/sys/",
    "/usr/lib/ssl/",
    "/usr/share/zoneinfo/",
    "/var/run/secrets/kubernetes.io/",
    "/run/secrets/kubernetes.io/",
)
_COLLECTIONS = ("ansible/", "kubernetes/core/", "operator_sdk/util/", "rolecall/operator/")
_TEMPORARY = ("k8srcp-", "ansible", "rolecall", "tmp", "kube", "pymp-")
_WRITES = os.O_WRONLY | os.O_RDWR
_PROGRAMS = frozenset({"os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"})


class OpenedFiles:
    """The audit hook of a run child."""

    def __init__(self, core_folder: str, found: Callable[[str], None]) -> None:
        self._core_folder = core_folder
        self._found = found
        self._inputs: tuple[str, ...] = ()
        self._known: tuple[str, ...] = ()
        self._temporary = ""
        self._asked: set[str | bytes] = set()

    def begin(self, inputs: tuple[str, ...], own: tuple[str, ...]) -> None:
        """Listen from now on; call once. `own` are files that the host writes notes in."""
        self._inputs = tuple(each for path in inputs for each in (path, f"{path}/"))
        self._temporary = tempfile.gettempdir()
        self._known = (*(path for path in own if path), *self._given())
        self._asked.clear()
        sys.addaudithook(self._on_event)

    def look_at(self, path: str) -> None:
        """Whether this file, there or not, is an input."""
        if not self._is_input(os.path.abspath(os.path.expanduser(path))):  # noqa: PTH100, PTH111
            self._found(f"it looks for `{path}`, which is not of the project")

    def _given(self) -> list[str]:
        """What the run was given, and what is installed."""
        folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, self._core_folder]
        folders += [path for path in sys.path if path.startswith("/") and "/python" in path]
        folders += [os.environ.get("AWX_ISOLATED_DATA_DIR", ""), os.environ.get("KUBECACHEDIR", "")]
        folders += [str(Path.cwd().parent)]  # the private folder of the CR
        files = [os.environ.get(name, "") for name in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG")]
        files += [os.environ.get("ANSIBLE_CONFIG", "")]
        with_real = {each for path in folders if path for each in (path, os.path.realpath(path))}
        return [
            *(f"{path}/" for path in with_real if path != "/"),
            *(f"{self._temporary}/{name}" for name in _TEMPORARY),
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
            self._judge(str(args[0]).partition("*")[0], writes=False)
        elif event in _PROGRAMS:
            self._found("a program is started")

    def _judge(self, path: str, *, writes: bool) -> None:
        path = os.path.abspath(path)  # noqa: PTH100 - of a text, without looking at the disk
        if path == self._temporary or path.startswith(self._known):
            return  # the folder itself is opened for a file without a name
        if not writes and self._is_input(path):
            return
        before, found, rest = path.rpartition("/ansible_collections/")
        if found and rest.startswith(_COLLECTIONS):
            return
        told = before if not rest else path
        verb = "writes" if writes else "reads"
        self._found(f"it {verb} `{told or path}`, which is not of the project")

    def _is_input(self, path: str) -> bool:
        for root in self._inputs:
            if path == root or (root.endswith("/") and path.startswith(root)):
                return "/." not in path[len(root) - 1 :]
        return False
