"""The world of one plan: every request of its play is answered from the cluster and the plan
together.

Promise: the API server is sent nothing that it would keep. Reads pass; writes are tried with
`dryRun=All` and kept in the overlay; what has no honest answer is refused, and noted with its time,
so that the plan can say from which task on nothing is known.

Requests are answered one after the other: a write looks at what is there, and then decides.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.plan.answers import NotAnswerableError, document_in, refused
from rolecall.plan.deletes import Deletes
from rolecall.plan.overlay import ObjectIdentity, Overlaid, Overlay
from rolecall.plan.reads import WorldReads
from rolecall.plan.writes import Writes
from rolecall.proxy import ApiServer, PlayRequest, Said, is_review

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_WRITABLE_SUBRESOURCES = frozenset({"", "status", "scale", "finalize", "approval"})
_LARGEST_SECRET = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request that had no honest answer."""

    what: str
    at_s: float


class PlanWorld:
    """One plan's; `stand_in` is a namespace that exists."""

    def __init__(self, stand_in: str) -> None:
        self.overlay = Overlay()
        self.refused: list[Unanswered] = []
        self.secrets: list[Json] = []  # that the play saw, for their values to be hidden
        self._reads = WorldReads(self.overlay)
        self._writes = Writes(self.overlay, stand_in)
        self._deletes = Deletes(self.overlay, self._reads)
        self._turn = asyncio.Lock()

    def take_as_there(self, identity: ObjectIdentity, version: str, found: Json) -> None:
        """An object counts as there though the cluster has another one, or none."""
        self.overlay.put(Overlaid(identity, version, found, found))

    async def answer(self, asked: PlayRequest, server: ApiServer) -> Said:
        """The proxy's way in."""
        async with self._turn:
            try:
                said = await self._answer(asked, server)
            except NotAnswerableError as error:
                return self._refuse(asked, str(error))
        if asked.info.resource == "secrets" and said.code < 300:
            self._remember_secrets(said)
        return said

    async def _answer(self, asked: PlayRequest, server: ApiServer) -> Said:
        info = asked.info
        if asked.is_upgrade:
            raise NotAnswerableError(f"a connection to {info.resource}/{info.subresource}")
        if asked.method in _READING:
            return await self._reads.answer(asked, server)
        if not info.is_resource:
            raise NotAnswerableError(f"{asked.method} {info.path}")
        if info.verb == "proxy" or info.subresource not in _WRITABLE_SUBRESOURCES:
            raise NotAnswerableError(f"a write to {info.resource}/{info.subresource or info.verb}")
        if asked.method == "POST":
            if info.name and not is_review(info):
                raise NotAnswerableError(f"a create below {info.resource}/{info.name}")
            return await self._writes.create(asked, server)
        if asked.method == "DELETE":
            deletes = self._deletes
            return await (deletes.one if info.name else deletes.many)(asked, server)
        return await self._writes.change(asked, server)

    def _refuse(self, asked: PlayRequest, why: str) -> Said:
        self.refused.append(Unanswered(why, asked.at_s))
        return refused(why)

    def _remember_secrets(self, said: Said) -> None:
        if len(said.body) > _LARGEST_SECRET:
            return
        document = document_in(said)
        items = document.get("items")
        for found in items if isinstance(items, list) else [document]:
            if isinstance(found, dict) and ("data" in found or "stringData" in found):
                self.secrets.append({**found, "kind": "Secret"})
