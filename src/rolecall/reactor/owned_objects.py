"""The dependents of one kind in one namespace (or all): which are owned by whom, and what changed.

The rule, for each event: a create never puts an owner's key into the queue, a delete always does, an
update where the digests differ. The keys are those of all owners, old and new. Lists follow the same
rule: what was known and is not listed has been deleted, what differs has been updated, what is new was
created. What is kept for an object is its uid, eight bytes of digest and its owners' keys, and only if
it has owners that a watch is interested in. Owners from elsewhere must have asked for the object.
"""

from __future__ import annotations

import logging

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, Resource, WatchEvent
from rolecall.log_fields import log_fields
from rolecall.reactor.asked_objects import AskedObjects, mark_of
from rolecall.reactor.digest import digest_of
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.owner_keys import Interest, keys_of
from rolecall.reactor.ports import ListAgain, Sink
from rolecall.workqueue import Cause, Key, Urgency

_Claim = tuple[Key, int]  # an owner, and by what its runs would have asked for the object
_Memo = tuple[bytes, tuple[_Claim, ...]]
_CLAIM = "PersistentVolumeClaim"
_logger = logging.getLogger(__name__)


class OwnedObjects:
    """The dependents of one kind and namespace (or all), as their informer last reported them."""

    def __init__(
        self,
        resource: Resource,
        namespace: str,
        sink: Sink,
        own_writes: OwnWrites,
        asked: AskedObjects,
    ) -> None:
        self._resource = resource
        self._namespace = namespace
        self._sink = sink
        self._own_writes, self._asked = own_writes, asked
        self._interests: set[Interest] = set()
        self._memos: dict[str, _Memo] = {}
        self._unlisted: set[str] = set()
        # A generation stands for the content only where status is not part of it.
        self._generation_counts = "status" in resource.subresources
        self._saw_generation = False
        self._needs_content = not self._generation_counts
        self.is_synced = False

    def __len__(self) -> int:
        return len(self._memos)

    @property
    def wants_metadata_only(self) -> bool:
        """Where the generation stands for the content, metadata is enough.

        That is only known once objects were seen, so the first list is one of whole objects.
        """
        return self._saw_generation and not self._needs_content

    def add_interest(self, interest: Interest) -> bool:
        """Whether it is new: what was passed over until now may matter, so list again."""
        is_new = interest not in self._interests
        self._interests.add(interest)
        return is_new

    def on_list_begins(self) -> None:
        self._unlisted = set(self._memos)

    def on_listed(self, item: Json) -> None:
        """An object that exists: news only if it was known and differs, by any writer.

        What lies between was not seen, and may be a person's edit that a play's write came after.
        """
        uid = _uid_of(item["metadata"])
        self._unlisted.discard(uid)
        is_create = uid not in self._memos
        if (owners := self._learn(item)) and not is_create:
            self._bring(owners, self._drift_of(item["metadata"]))

    def on_list_complete(self) -> None:
        for uid in self._unlisted:
            owners = self._memos.pop(uid)[1]
            if not self._own_writes.deletes(uid):
                self._bring(owners, self._drift_of({}, is_gone=True))
        self._unlisted = set()

    def on_event(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            metadata = event.object["metadata"]
            old = self._memos.pop(_uid_of(metadata), None)
            if self._own_writes.deletes(_uid_of(metadata)):
                return
            owners = (*(old[1] if old else ()), *self._claims(metadata))
            self._bring(owners, self._drift_of(metadata, is_gone=True))
        else:
            self._learn_and_bring(event.object, is_create=event.type == "ADDED")

    def on_trouble(self, failure: ClusterError) -> None:
        warn_of_dependents(self._resource.gvk, failure)

    def on_synced(self, is_synced: bool) -> None:
        """While it is not, what happens is found in the next list, and drift at the period."""
        if is_synced != self.is_synced:
            self.is_synced = is_synced
            what = "watching dependents" if is_synced else "dependents are not watched"
            place = self._namespace or "all"
            _logger.debug(what, extra=log_fields(kind=str(self._resource.gvk), namespace=place))

    def _learn_and_bring(self, document: Json, *, is_create: bool) -> None:
        metadata = document["metadata"]
        uid, version = _uid_of(metadata), str(metadata.get("resourceVersion") or "")
        owners = self._learn(document)
        if owners and not is_create:
            drift = self._drift_of(metadata)
            self._own_writes.call_after_notes(
                lambda: self._bring_unless_own(uid, version, owners, drift)
            )

    def _claims(self, metadata: Json) -> tuple[_Claim, ...]:
        """All owners that an object names."""
        place = str(metadata.get("namespace") or ""), str(metadata["name"])
        keys = dict.fromkeys(keys_of(metadata, self._interests))
        return tuple((key, mark_of(key, self._resource, *place)) for key in keys)

    def _learn(self, document: Json) -> tuple[_Claim, ...]:
        """Keep what is to be known of an object; returns whom it concerns that it differs."""
        metadata = document["metadata"]
        uid, version = _uid_of(metadata), str(metadata.get("resourceVersion") or "")
        self._saw_generation = self._saw_generation or bool(metadata.get("generation"))
        claims = self._claims(metadata)
        old = self._memos.get(uid)
        if old is None and not claims:
            return ()
        digest = self._digest(document, version)
        if claims:
            self._memos[uid] = (digest, claims)
        else:
            self._memos.pop(uid, None)
        if digest == _seen_at(version):
            raise ListAgain
        if old is not None and old[0] in (digest, _seen_at(version)):
            return ()
        return (*(old[1] if old else ()), *claims)

    def _bring_unless_own(
        self, uid: str, version: str, owners: tuple[_Claim, ...], drift: Cause
    ) -> None:
        if not (self._own_writes.made(uid, version) or self._own_writes.deletes(uid)):
            self._bring(owners, drift)

    def _digest(self, document: Json, version: str) -> bytes:
        """By metadata if the object has a generation that counts, else by its content."""
        if self._generation_counts and document["metadata"].get("generation"):
            return digest_of(document, is_metadata_only=True)
        self._needs_content = True
        if document.get("kind") == "PartialObjectMetadata":
            # Older than its kind's generations, as a pod may be after an upgrade of the server.
            return _seen_at(version)
        is_claim = self._resource.gvk.group_kind == _CLAIM
        return digest_of(document, is_metadata_only=False, is_claim=is_claim)

    def _drift_of(self, metadata: Json, *, is_gone: bool = False) -> Cause:
        """Name the object; one that is gone without an event by its kind alone: names are not kept."""
        what = f"{self._resource.gvk.kind} {metadata.get('name') or ''}".rstrip()
        return Cause(f"drift of {what}, which is gone" if is_gone else f"drift of {what}")

    def _bring(self, claims: tuple[_Claim, ...], drift: Cause) -> None:
        for key, mark in dict.fromkeys(claims):
            if not mark or self._asked.has(mark):
                self._sink.add(key, Urgency.DEPENDENT, drift)


def warn_of_dependents(kind: Gvk, failure: ClusterError) -> None:
    rule = {"rule": failure.rule} if isinstance(failure, ForbiddenError) else {}
    fields = log_fields(kind=str(kind), why=failure.message, hint=failure.hint, **rule)
    _logger.warning("cannot watch dependents", extra=fields)


def _uid_of(metadata: Json) -> str:
    """What identifies an object; those of aggregated servers may have a name only."""
    return str(metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata['name']}")


def _seen_at(version: str) -> bytes:
    """Instead of a digest, for an object whose content was not there to be digested."""
    return b"@" + version.encode()
