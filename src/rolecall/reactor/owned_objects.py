"""The dependents of one kind in one namespace (or all): which are owned by whom, and what changed.

The rule, for each event: create never brings a key, delete always, an update where the digests
differ. The keys are those of all owners, old and new. Lists follow the same rule: what was known
and is not listed has been deleted, what differs has been updated, what is new was created. What is
kept for an object is its uid, eight bytes of digest and its owners' keys, and only if it has owners
that somebody asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from rolecall.errors import ClusterError
from rolecall.kube import ForbiddenError, Resource, UnavailableError, WatchEvent
from rolecall.reactor.digest import digest_of
from rolecall.reactor.follow import ListAgain
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.owners import Interest, keys_of
from rolecall.reactor.ports import Sink
from rolecall.workqueue import Key, Urgency

Json = dict[str, Any]
# Waits a moment, in which the proxy may tell that the change was a play's own.
Hold = Callable[[Callable[[], None]], None]
_Memo = tuple[bytes, tuple[Key, ...]]
_logger = logging.getLogger(__name__)


class OwnedObjects:
    """A listener of one stream."""

    def __init__(
        self,
        resource: Resource,
        namespace: str,
        sink: Sink,
        own_writes: OwnWrites,
        hold: Hold = lambda then: then(),
    ) -> None:
        self._resource = resource
        self._namespace = namespace
        self._sink = sink
        self._own_writes = own_writes
        self._hold = hold
        self._interests: set[Interest] = set()
        self._memos: dict[str, _Memo] = {}
        self._unlisted: set[str] = set()
        # A generation stands for the content only where status is not part of it.
        self._generation_counts = "status" in resource.subresources
        self._saw_generation = False
        self._needs_content = not self._generation_counts
        self.is_complete = False

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
        """Whatever is not listed now is gone."""
        self._unlisted = set(self._memos)

    def on_listed(self, item: Json) -> None:
        """An object that exists: news only if it was known and differs."""
        self._unlisted.discard(item["metadata"]["uid"])
        self._update(item, is_create=item["metadata"]["uid"] not in self._memos)

    def on_list_complete(self) -> None:
        """What was known and not listed was deleted meanwhile."""
        for uid in self._unlisted:
            self._bring(self._memos.pop(uid)[1])
        self._unlisted = set()
        if not self.is_complete:
            self.is_complete = True
            fields = {"kind": str(self._resource.gvk), "namespace": self._namespace or "all"}
            _logger.debug("watching dependents", extra={"fields": fields})

    def on_event(self, event: WatchEvent) -> None:
        """An event of the stream."""
        if event.type == "DELETED":
            metadata = event.object["metadata"]
            old = self._memos.pop(metadata["uid"], None)
            keys = tuple(keys_of(metadata, self._interests))
            self._bring((*(old[1] if old else ()), *keys))
        else:
            self._update(event.object, is_create=event.type == "ADDED")

    def on_trouble(self, failure: ClusterError) -> None:
        """The stream does not stand; it is tried again."""
        if not isinstance(failure, UnavailableError):
            self.is_complete = False
        fields = {"kind": str(self._resource.gvk), "why": failure.message, "hint": failure.hint}
        if isinstance(failure, ForbiddenError):
            fields["rule"] = failure.rule
        _logger.warning("cannot watch dependents", extra={"fields": fields})

    def _update(self, document: Json, *, is_create: bool) -> None:
        metadata = document["metadata"]
        uid, version = metadata["uid"], str(metadata.get("resourceVersion") or "")
        self._saw_generation = self._saw_generation or bool(metadata.get("generation"))
        keys = tuple(dict.fromkeys(keys_of(metadata, self._interests)))
        old = self._memos.get(uid)
        if old is None and not keys:
            return
        digest = self._digest(document, version)
        if keys:
            self._memos[uid] = (digest, keys)
        else:
            self._memos.pop(uid, None)
        if digest == _seen_at(version):
            raise ListAgain
        if is_create or (old is not None and old[0] in (digest, _seen_at(version))):
            return
        owners = (*(old[1] if old else ()), *keys)
        self._hold(lambda: self._bring_unless_own(uid, version, owners))

    def _bring_unless_own(self, uid: str, version: str, owners: tuple[Key, ...]) -> None:
        if not self._own_writes.made(uid, version):
            self._bring(owners)

    def _digest(self, document: Json, version: str) -> bytes:
        """By metadata if the object has a generation that counts, else by its content."""
        if self._generation_counts and document["metadata"].get("generation"):
            return digest_of(document, is_metadata_only=True)
        self._needs_content = True
        if document.get("kind") == "PartialObjectMetadata":
            # Older than its kind's generations, as a pod may be after an upgrade of the server.
            return _seen_at(version)
        return digest_of(document, is_metadata_only=False)

    def _bring(self, keys: tuple[Key, ...]) -> None:
        for key in dict.fromkeys(keys):
            self._sink.add(key, Urgency.DEPENDENT)


def _seen_at(version: str) -> bytes:
    """Instead of a digest, for an object whose content was not there to be digested."""
    return b"@" + version.encode()
