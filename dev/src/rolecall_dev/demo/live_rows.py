"""What is to be seen: the CRs of the samples, how long each took, what they own, and the table of it.

Kept up to date by watching the API server, not by asking it now and then: a run takes less time than
any polite interval, and the figures shown must be true.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from rich.table import Table

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, GoneError, UnavailableError


# The state of a dependent in one or two words: `PVC Bound`, `Deployment 3/3`.
# Only kinds with such a short state are shown; a ReplicaSet between a Deployment and its pods would be
# of no use to the user.
def _phase(obj: Json) -> str:
    return str(obj.get("status", {}).get("phase", "Pending"))


def _ready_of_wanted(obj: Json) -> str:
    wanted = obj.get("spec", {}).get("replicas", 1)
    return f"{obj.get('status', {}).get('readyReplicas', 0)}/{wanted}"


def _nothing(_obj: Json) -> str:
    return ""


SHOWN: dict[Gvk, tuple[str, Callable[[Json], str]]] = {
    Gvk("", "v1", "PersistentVolumeClaim"): ("PVC", _phase),
    Gvk("", "v1", "Pod"): ("Pod", _phase),
    Gvk("", "v1", "Service"): ("Service", _nothing),
    Gvk("", "v1", "ConfigMap"): ("ConfigMap", _nothing),
    Gvk("", "v1", "Secret"): ("Secret", _nothing),
    Gvk("apps", "v1", "Deployment"): ("Deployment", _ready_of_wanted),
    Gvk("apps", "v1", "StatefulSet"): ("StatefulSet", _ready_of_wanted),
    Gvk("batch", "v1", "CronJob"): ("CronJob", _nothing),
    Gvk("batch", "v1", "Job"): ("Job", _nothing),
    Gvk("policy", "v1", "PodDisruptionBudget"): ("Budget", _nothing),
}


def in_words(gvk: Gvk, obj: Json) -> str:
    word, state = SHOWN[gvk]
    return f"{word} {state(obj)}".rstrip()


# What is to be seen: the CRs of the samples, how long each took, and what they own.
# Kept up to date by watching the API server, not by asking it now and then: a run takes less time
# than any polite interval, and the figures shown must be true.

_RETRY_S = 0.2


@dataclass(slots=True)
class Row:
    """One CR, as the table shows it."""

    kind: str
    name: str
    uid: str
    seen: float
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    ready_after_s: float | None = None
    dependents: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether the engine reports `Ready` as true for the current generation."""
        return self.status == "True"


class LiveRows:
    """The CRs of a demo with what they own, as they are now."""

    def __init__(self, client: Client, kinds: Sequence[Gvk], clock: Clock) -> None:
        self._client = client
        self._kinds = kinds
        self._clock = clock
        self._rows: dict[str, Row] = {}
        # uid of a dependent -> uids of its owners, and its words
        self._dependents: dict[str, tuple[list[str], str]] = {}
        self._changed = asyncio.Event()
        self._broken: BaseException | None = None

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Keep the rows up to date while the context lasts."""
        tasks = [asyncio.create_task(self._follow(gvk)) for gvk in (*self._kinds, *SHOWN)]
        for task in tasks:
            task.add_done_callback(self._ended)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def next_rows(self) -> list[Row]:
        """The rows, once something changed since the last time; raises what broke the watching."""
        await self._changed.wait()
        self._changed.clear()
        if self._broken is not None:
            raise self._broken
        return self.rows()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._broken = task.exception()
            self._changed.set()

    def rows(self) -> list[Row]:
        """The rows in order of kind and name, each with what it owns."""
        for row in self._rows.values():
            words = Counter(text for owners, text in self._dependents.values() if row.uid in owners)
            row.dependents = [
                f"{count} x {text}" if count > 1 else text for text, count in sorted(words.items())
            ]
        return sorted(self._rows.values(), key=lambda row: (row.kind, row.name))

    async def _follow(self, gvk: Gvk) -> None:
        while True:
            try:
                async for page in self._client.pages(gvk):
                    for obj in page.items:
                        self._saw(gvk, obj)
                    version = page.resource_version
                async for event in self._client.watch(gvk, resource_version=version):
                    if event.type == "DELETED":
                        self._lost(event.object["metadata"]["uid"])
                    elif event.type in ("ADDED", "MODIFIED"):
                        self._saw(gvk, event.object)
            except (GoneError, UnavailableError):
                await self._clock.sleep(_RETRY_S)

    def _saw(self, gvk: Gvk, obj: Json) -> None:
        if gvk in self._kinds:
            self._saw_cr(obj)
        else:
            owners = [ref["uid"] for ref in obj["metadata"].get("ownerReferences", [])]
            self._dependents[obj["metadata"]["uid"]] = (owners, in_words(gvk, obj))
        self._changed.set()

    def _saw_cr(self, obj: Json) -> None:
        metadata = obj["metadata"]
        now = self._clock.monotonic()
        row = self._rows.setdefault(
            metadata["uid"], Row(obj["kind"], metadata["name"], metadata["uid"], now)
        )
        conditions = obj.get("status", {}).get("conditions", [])
        ready: Json = next((each for each in conditions if each["type"] == "Ready"), {})
        row.status = ready.get("status", "Unknown")
        row.reason = ready.get("reason", "")
        row.message = ready.get("message", "")
        if row.is_ready and row.ready_after_s is None:
            row.ready_after_s = now - row.seen

    def _lost(self, uid: str) -> None:
        self._rows.pop(uid, None)
        self._dependents.pop(uid, None)
        self._changed.set()


# The table that people see.

_COLOURS = {"True": "green", "False": "yellow", "Unknown": "dim"}


def table_of(rows: Sequence[Row], title: str) -> Table:
    table = Table(title=title, title_justify="left", expand=False)
    for column in ("kind", "name", "Ready", "after", "reason", "owns"):
        table.add_column(column, justify="right" if column == "after" else "left")
    for row in rows:
        took = "" if row.ready_after_s is None else f"{row.ready_after_s:.2f} s"
        status = f"[{_COLOURS.get(row.status, 'dim')}]{row.status}[/]"
        table.add_row(row.kind, row.name, status, took, row.reason, ", ".join(row.dependents))
    return table
