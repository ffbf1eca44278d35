"""Which CRs have a label: read from the cluster as the reader, because the engine keeps no labels.

A reader who may list a kind everywhere needs one list. For any other reader the API server rejects it,
and we list each namespace that he can see; so a label finds the same CRs that the list without it
shows.

Pages ask again every few seconds, because the engine does not learn that a label changed. So what was
read serves all readers who may list the same for a while, the longer the longer it took.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern

from rolecall.clock import Clock
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.gvk import Gvk
from rolecall.json_object import as_map
from rolecall.kube import ForbiddenError
from rolecall.workqueue import Key

_AT_ONCE = 8
_FRESH_S, _TIMES_AS_LONG = 5.0, 20
_KEPT_S = 60.0
_MOST_KEPT = 4  # with a value for each of up to ten thousand CRs

_Asked = tuple[frozenset[tuple[Gvk, str]], str, str]  # kinds and namespaces, a selector, a label


@dataclass(frozen=True, slots=True)
class Candidates:
    """CRs that a reader may list, and where they are."""

    keys: Mapping[Key, Key]
    places: frozenset[tuple[Gvk, str]]

    @classmethod
    def of(cls, keys: Iterable[Key]) -> Candidates:
        """In a thread, since there are ten thousand."""
        own = {key: key for key in keys}
        return cls(own, frozenset((key.gvk, key.namespace) for key in own))


@dataclass(slots=True)
class _Read:
    values: Mapping[Key, str] = field(default_factory=dict)
    until_s: float = float("-inf")
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)


class LabelReads:
    """What was read lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[_Asked, _Read] = OrderedDict()

    async def labelled(
        self, candidates: Candidates, selector: str, client: ReaderClient, label: str = ""
    ) -> Mapping[Key, str]:
        """CRs that a selector means, with their value of a label: at least those of these CRs, all of
        which the reader may list. Raises `ClusterError`.
        """
        asked = candidates.places, selector, label
        read = self._kept.setdefault(asked, _Read())
        self._kept.move_to_end(asked)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        async with read.one_at_a_time:
            began = self._clock.monotonic()
            if began >= read.until_s:
                read.values = await _labelled(candidates, selector, client, label)
                ended = self._clock.monotonic()
                fresh_s = max(_FRESH_S, (ended - began) * _TIMES_AS_LONG)
                read.until_s = ended + min(fresh_s, _KEPT_S)
                loop = asyncio.get_running_loop()
                loop.call_later(_KEPT_S, self._drop, asked, read.until_s)
            return read.values

    def _drop(self, asked: _Asked, until_s: float) -> None:
        """Unless it was read again."""
        if asked in self._kept and self._kept[asked].until_s == until_s:
            del self._kept[asked]


async def _labelled(
    candidates: Candidates, selector: str, client: ReaderClient, label: str
) -> dict[Key, str]:
    by_kind: dict[Gvk, set[str]] = {}
    for gvk, namespace in candidates.places:
        by_kind.setdefault(gvk, set()).add(namespace)
    found: dict[Key, str] = {}
    for gvk, namespaces in by_kind.items():
        listing = _Listing(gvk, selector, client, label, candidates.keys, found)
        await listing.of_all(sorted(namespaces))
    return found


@dataclass(frozen=True, slots=True)
class _Listing:
    """The CRs of one kind that a selector means."""

    gvk: Gvk
    selector: str
    client: ReaderClient
    label: str
    own: Mapping[Key, Key]  # keys that are there anyway
    found: dict[Key, str]

    async def of_all(self, namespaces: list[str]) -> None:
        everywhere = namespaces if len(namespaces) == 1 else [""]
        try:
            await self.of(everywhere[0])
        except ForbiddenError:
            if everywhere == namespaces:
                raise
            for begin in range(0, len(namespaces), _AT_ONCE):
                await asyncio.gather(*map(self.of, namespaces[begin : begin + _AT_ONCE]))

    async def of(self, namespace: str) -> None:
        async for page in self.client.pages(
            self.gvk, namespace, label_selector=self.selector, metadata_only=True
        ):
            for item in page.items:
                metadata = item["metadata"]
                key = Key(self.gvk, metadata.get("namespace") or "", metadata["name"])
                value = str(as_map(metadata.get("labels")).get(self.label, ""))
                self.found[self.own.get(key, key)] = intern(value)
