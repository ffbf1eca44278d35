"""What there is: every cluster of this user, in which state, how big."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.cluster import Cluster
from rolecall_dev.localcluster.components import COMPONENTS
from rolecall_dev.localcluster.layout import Layout, Record, clusters_folder

# ready: all runs and answers; ailing: some of it; stopped: none of it, the data is there;
# unfinished: an `up` was interrupted, or is under way.
State = Literal["ready", "ailing", "stopped", "unfinished"]


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """One program; `pid` is None when it does not run."""

    name: str
    pid: int | None
    memory_bytes: int
    is_frozen: bool


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """One cluster; what is only known of a complete one is None for others."""

    name: str
    state: State
    url: str | None
    started_at: datetime | None
    kubernetes_version: str | None
    components: Sequence[ComponentStatus]

    @property
    def memory_bytes(self) -> int:
        """Of all programs together."""
        return sum(component.memory_bytes for component in self.components)


def status_of(layout: Layout) -> ClusterStatus | None:
    """None when there is no such cluster, not even a trace of it."""
    record = layout.read_record()
    components = _components(layout, record)
    is_running = any(component.pid for component in components)
    if not layout.folder.exists() and not is_running:
        return None
    if record is None:
        return ClusterStatus(layout.name, "unfinished", None, None, None, components)
    cluster = Cluster(layout, record)
    state: State = "stopped"
    if is_running:
        state = "ready" if cluster.is_complete() else "ailing"
    return ClusterStatus(
        layout.name, state, cluster.url, record.started_at, record.kubernetes_version, components
    )


def all_clusters(root: Path | None = None) -> list[ClusterStatus]:
    root = root or clusters_folder()
    folders = sorted(root.iterdir()) if root.is_dir() else []
    found = (status_of(Layout(folder)) for folder in folders if folder.is_dir())
    return [status for status in found if status is not None]


def _components(layout: Layout, record: Record | None) -> list[ComponentStatus]:
    if record is None:
        names: Sequence[str] = COMPONENTS
        running = {one.component: one for one in processes.find(layout.folder)}
    else:
        cluster = Cluster(layout, record)
        names, running = cluster.component_names, cluster.running()
    found = []
    for name in names:
        if one := running.get(name):
            found.append(ComponentStatus(name, one.pid, one.memory_bytes, one.is_frozen))
        else:
            found.append(ComponentStatus(name, None, 0, is_frozen=False))
    return found
