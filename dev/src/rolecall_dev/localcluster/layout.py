"""The folder of one cluster: every file that it has, so that removing the folder removes all.

One file is written last by `up` and says that the cluster was complete once: `cluster.json`. A folder
without it is what a killed `up` left behind. Reading it needs no lock: it is replaced, never edited.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.errors import InputError

LOOPBACK = "127.0.0.1"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def clusters_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where this user's clusters live: `ROLECALL_STATE`, or the user's state folder."""
    if chosen := environment.get("ROLECALL_STATE"):
        return Path(chosen).expanduser().absolute() / "clusters"
    base = environment.get("XDG_STATE_HOME")
    state = Path(base) if base else Path.home() / ".local" / "state"
    return state.expanduser().absolute() / "rolecall" / "clusters"


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the parts of a cluster listen, on 127.0.0.1."""

    apiserver: int
    etcd: int
    etcd_peer: int
    # Where the clients of each dial: the same, or a relay in front of it.
    apiserver_door: int
    etcd_door: int


@dataclass(frozen=True, slots=True)
class Record:
    """What is worth remembering of a cluster that came up."""

    ports: Ports
    started_at: datetime
    kubernetes_version: str
    nodes: int
    programs: Mapping[str, str]  # so that a stopped component is started from the same file
    copies: Sequence[
        str
    ] = ()  # of the kubeconfig, where the user asked for one; `down` removes them
    number: int | None = None  # of a cluster with real nodes: all its addresses follow from it

    def to_json(self) -> str:
        """As stored in `cluster.json`."""
        content = asdict(self) | {"started_at": self.started_at.isoformat()}
        return json.dumps(content, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """The inverse of `to_json`; raises ValueError, KeyError or TypeError for anything else."""
        content: dict[str, Any] = json.loads(text)
        content["ports"] = Ports(**content["ports"])
        content["started_at"] = datetime.fromisoformat(content["started_at"])
        return cls(**content)


@dataclass(frozen=True, slots=True)
class Layout:
    """Names of files in a cluster's folder."""

    folder: Path

    @classmethod
    def named(cls, name: str, root: Path | None = None) -> Layout:
        """The folder of the cluster with this name; the name must be fit for a file and a URL."""
        if not _NAME.fullmatch(name):
            raise InputError(
                f"cluster name `{name}` is not usable: use up to 40 of a-z, 0-9 and `-`, "
                "beginning and ending with a letter or digit"
            )
        return cls((root or clusters_folder()) / name)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def certificates(self) -> Path:
        return self.folder / "pki"

    @property
    def data(self) -> Path:
        """What etcd stores: the only thing that must survive a restart of a component."""
        return self.folder / "etcd"

    @property
    def logs(self) -> Path:
        """One file per component."""
        return self.folder / "logs"

    @property
    def kubeconfig(self) -> Path:
        """For the administrator."""
        return self.folder / "kubeconfig"

    @property
    def record(self) -> Path:
        """Exists once the cluster has been complete."""
        return self.folder / "cluster.json"

    def component_kubeconfig(self, component: str) -> Path:
        """For a component that dials the API server."""
        return self.certificates / f"{component}.kubeconfig"

    def read_record(self) -> Record | None:
        """None when the cluster has never been complete, or its record is not readable."""
        try:
            return Record.from_json(self.record.read_text())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write_record(self, record: Record) -> None:
        """All of it or nothing."""
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False) as file:
            file.write(record.to_json())
        Path(file.name).replace(self.record)
