"""Adopts objects that were there before the role first wrote them, or reports that they have no owner.

Promise: an object that names any owner is never touched. One without gets the owner of the run that
wrote it, where it carries the annotations that name this CR, or where `--adopt` asks for it; else
an Event on the CR reports it, once an object. Creates have their owner, and nothing happens in runs for
a CR that is being deleted.

The answer to a play's write has the object, so a look costs nothing. An adoption is one more request,
bound to the version that was seen: a write in between wins, and the next run tries again. That is
why two steps do no harm here, as they would for a create: nothing is lost where the second one fails.
Adding the owner to the play's own request was rejected: a JSON patch or a merge patch cannot say "only
where there is no owner", and a read before each would be paid by all.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import OWNER_ANNOTATION, Client, Resource
from rolecall.plain_text import listed
from rolecall.proxy.dependent_finder import DependentFinder
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.failures import EXPECTED
from rolecall.proxy.forward import Forwarder
from rolecall.proxy.identity import Owner
from rolecall.proxy.owners import Tie, names_owner, owner_patch, tie_for
from rolecall.proxy.run_credentials import RunCredential
from rolecall.reconcile import EventRecorder

NOT_OWNED = "NotOwned"
# The number of reported objects that are remembered; beyond that, an object may be reported once more.
_REMEMBERED = 4096

_Metadata = Mapping[str, Any]
# Whether an object without an owner had this owner, and gets it back when the run is over.
WasOwned = Callable[[Owner, str], Awaitable[bool]]


async def never_owned(_owner: Owner, _uid: str) -> bool:
    return False


class Adoption:
    """What becomes of objects that plays write and that have no owner."""

    def __init__(
        self,
        client: Client,
        forwarder: Forwarder,
        finder: DependentFinder,
        events: EventRecorder | None,
        *,
        takes_all: bool,
        was_owned: WasOwned = never_owned,
    ) -> None:
        self._discovery = client.discovery
        self._forwarder = forwarder
        self._finder = finder
        self._events = events
        self._takes_all = takes_all
        self._was_owned = was_owned
        self._reported: set[tuple[str, str]] = set()  # UIDs of owner and object

    async def note_written(
        self, exchange: Exchange, sent: object, media_type: str, answer: bytes
    ) -> bytes:
        """Handle the object in the answer to a play's write; returns the answer for the play."""
        metadata = self._finder.note_write(media_type, answer)
        # A create says its name in the body alone, or leaves it to the server.
        self._finder.note_asked(exchange.credential.owner, exchange.info, metadata.get("name"))
        if not metadata or not self._concerns(exchange, sent, metadata):
            return answer
        resource = await self._find_resource(exchange)
        if resource is None:
            return answer
        return await self._settle(exchange, resource, metadata, (media_type, answer))

    def report(self, credential: RunCredential, cr: Json) -> None:
        """At the end of a run: name what it wrote and its CR does not own."""
        if credential.unowned and self._events is not None:
            message = _reported(list(credential.unowned.values()), were_refused=self._takes_all)
            self._events.record(cr, kind="Warning", reason=NOT_OWNED, message=message)

    async def _settle(
        self,
        exchange: Exchange,
        resource: Resource,
        metadata: _Metadata,
        answered: tuple[str, bytes],
    ) -> bytes:
        credential, info = exchange.credential, exchange.info
        owner = credential.owner
        namespace = info.namespace if resource.namespaced else ""
        tie = tie_for(owner, is_namespaced=resource.namespaced, namespace=namespace)
        is_marked = names_owner(metadata, owner)
        if is_marked and tie is Tie.ANNOTATIONS:
            return answered[1]  # they are the tie
        if is_marked or self._takes_all:
            adopted = await self._adopt(exchange, metadata, tie, answered[0])
            if adopted is not None:
                self._finder.note_created(credential, resource, tie, namespace)
                return adopted
        place = f"{namespace}/{info.name}" if tie is Tie.ANNOTATIONS and namespace else info.name
        await self._note_unowned(credential, metadata["uid"], f"{resource.gvk.kind} {place}")
        return answered[1]

    def _concerns(self, exchange: Exchange, sent: object, metadata: _Metadata) -> bool:
        """Whether this was a write to an object that is there to stay and names no other owner."""
        if exchange.method not in {"PUT", "PATCH"} or not exchange.info.is_about_objects:
            return False
        if exchange.credential.is_ending or metadata.get("deletionTimestamp"):
            return False
        owner = exchange.credential.owner
        if metadata.get("ownerReferences") or metadata.get("uid") in {None, "", owner.uid}:
            return False
        is_free = OWNER_ANNOTATION not in (metadata.get("annotations") or {})
        if not is_free and not names_owner(metadata, owner):
            return False
        # A write that names owners means it: this is how a role gives an object up.
        return not (isinstance(sent, bytes) and b"ownerReferences" in sent)

    async def _adopt(
        self, exchange: Exchange, metadata: _Metadata, tie: Tie, media_type: str
    ) -> bytes | None:
        """The object with its owner, in the form that the play asked for; None: not adopted."""
        body = json.dumps(owner_patch(metadata, exchange.credential.owner, tie)).encode()
        try:
            async with self._forwarder.merge(exchange, body) as response:
                answer = await response.read()
                if response.status != 200 or response.content_type != media_type:
                    return None
        except EXPECTED:
            return None  # the play's write went well
        self._finder.note_write(media_type, answer)
        return answer

    async def _note_unowned(self, credential: RunCredential, uid: str, name: str) -> None:
        mark = (credential.owner.uid, uid)
        if mark in self._reported or await self._was_owned(credential.owner, uid):
            return
        if len(self._reported) >= _REMEMBERED:
            self._reported.clear()
        self._reported.add(mark)
        credential.unowned[uid] = name

    async def _find_resource(self, exchange: Exchange) -> Resource | None:
        info = exchange.info
        try:
            found = await self._discovery.by_plural(info.group, info.version, info.resource)
        except ClusterError:
            return None  # the play's write went well; this is only about its owner
        return found if found is not None and found.is_watchable else None


def _reported(names: list[str], *, were_refused: bool) -> str:
    way_out = (
        "The API server refused to give them one; that needs the verb `patch` on their kinds"
        if were_refused
        else "`--adopt` makes it their owner"
    )
    return (
        f"The role writes objects that have no owner: {listed(names)}. They stay when this object is"
        f" deleted, and their changes start no run. {way_out}"
    )
