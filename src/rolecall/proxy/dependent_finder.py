"""Learns which kinds a watch's plays make, and which writes were theirs.

Promise: the follower of dependents learns of a kind when a play created one, and again after a restart
when a read shows an object owned by the CR of that run, in a GET, a list, a table or a watch; only of
kinds that the watch wants followed. Each kind and namespace found in reads is reported once; after
that, its reads are not searched. Only JSON is searched: a read in protobuf shows nothing.

Short answers to writes are parsed. Answers to reads are searched instead, for two texts that the API
server writes in one way only, in pieces as they pass, so that a list of a hundred megabytes costs
neither memory nor a stalled loop. The UID must stand in an `ownerReferences` array; inside a string,
quotes are escaped and nothing matches.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from rolecall.gvk import Gvk
from rolecall.kube import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION, Resource
from rolecall.log_fields import log_fields
from rolecall.proxy.bodies import JSON, PROTOBUF, parse_body
from rolecall.proxy.identity import Owner
from rolecall.proxy.owners import (
    Tie,
    annotations_naming,
    tie_for,
)
from rolecall.proxy.protobuf import UnreadableBodyError
from rolecall.proxy.request_info import RequestInfo
from rolecall.proxy.run_credentials import RunCredential
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)
# Longer than any sensible array of owner references that two pieces of an answer could cut in half.
_OVERLAP = 16 * 1024
# The number of findings that are remembered; beyond that each may be reported once more.
_REMEMBERED = 4096
# Events are posted once and expire. To follow them would cost a watch on all Events of the cluster, and
# bring each CR back when its Event has expired.
_GROUPS_OF_EVENTS = ("", "events.k8s.io")


class DependentSink(Protocol):
    """Follows dependents; calls are cheap, may repeat, and must not block or raise."""

    def note(
        self, owner_kind: Gvk, dependent_kind: Gvk, *, by_annotation: bool, namespace: str
    ) -> None:
        """Plays for CRs of one kind make objects of another, tied by reference or annotations.

        `namespace` is where one was seen: empty for a cluster-scoped kind, and for a list over all
        namespaces, where it is not known.
        """

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """A play brought this object to this version: the event that says so is no news."""

    def note_asked(self, owner: Key, group: str, plural: str, namespace: str, name: str) -> None:
        """A play of this CR asked for an object by its name."""


class DependentFinder:
    """What is known about the dependents of all watches."""

    def __init__(self, sink: DependentSink) -> None:
        self._sink = sink
        self._reported: set[tuple[Gvk, Gvk, bool, str]] = set()

    def note_created(
        self, credential: RunCredential, resource: Resource, tie: Tie, namespace: str
    ) -> None:
        """A play created an object that was tied to its owner."""
        if _is_followed(credential, resource, tie):
            self._report(credential, resource, tie, namespace)
        else:
            kind = str(resource.gvk)
            _logger.debug("Resource will not be watched/cached.", extra=log_fields(kind=kind))

    def note_asked(self, owner: Owner, info: RequestInfo, name: object) -> None:
        """A play made, changed or read an object by its name."""
        if isinstance(name, str) and name and info.is_resource and owner.uid:
            key = Key(owner.gvk, owner.namespace, owner.name)
            self._sink.note_asked(key, info.group, info.resource, info.namespace, name)

    def note_write(self, media_type: str, answer: bytes) -> Mapping[str, Any]:
        """A play's write was answered with the object as it is now; returns its metadata, if read."""
        if media_type not in {JSON, PROTOBUF}:
            return {}
        try:
            metadata = parse_body(media_type, answer).metadata
        except UnreadableBodyError:
            return {}
        uid, version = metadata.get("uid"), metadata.get("resourceVersion")
        if isinstance(uid, str) and isinstance(version, str) and uid and version:
            self._sink.note_own_write(uid, version)
        return metadata

    def search_for(
        self, credential: RunCredential, resource: Resource, namespace: str
    ) -> Callable[[bytes], None] | None:
        """A callback that searches an answer's pieces for an object of this CR.

        None where all ties are known already, or not followed.
        """
        ties = _possible_ties(credential.owner, resource, namespace)
        wanted = {
            tie
            for tie in ties
            if _is_followed(credential, resource, tie)
            and (credential.watch.gvk, resource.gvk, tie is Tie.ANNOTATIONS, namespace)
            not in self._reported
        }
        if not wanted:
            return None
        return _Search(
            credential.owner, wanted, lambda tie: self._report(credential, resource, tie, namespace)
        ).feed

    def _report(
        self, credential: RunCredential, resource: Resource, tie: Tie, namespace: str
    ) -> None:
        by_annotation = tie is Tie.ANNOTATIONS
        if len(self._reported) >= _REMEMBERED:
            self._reported.clear()
        self._reported.add((credential.watch.gvk, resource.gvk, by_annotation, namespace))
        self._sink.note(
            credential.watch.gvk, resource.gvk, by_annotation=by_annotation, namespace=namespace
        )


class _Search:
    def __init__(self, owner: Owner, wanted: set[Tie], found: Callable[[Tie], None]) -> None:
        self._owner = owner
        self._wanted = wanted
        self._found = found
        self._rest = b""
        # Looked for first: nearly all answers have neither, and so need no pattern at all.
        place = annotations_naming(owner)[OWNER_ANNOTATION]
        self._hints = {Tie.REFERENCE: owner.uid.encode(), Tie.ANNOTATIONS: f'"{place}"'.encode()}

    def feed(self, chunk: bytes) -> None:
        if not self._wanted:
            return
        window = self._rest + chunk
        for tie in list(self._wanted):
            if self._hints[tie] in window and _pattern_of(self._owner, tie).search(window):
                self._wanted.discard(tie)
                self._found(tie)
        self._rest = window[-_OVERLAP:]


def _pattern_of(owner: Owner, tie: Tie) -> re.Pattern[bytes]:
    if tie is Tie.REFERENCE:
        pattern = r'"ownerReferences":\s*\[[^\]]*"uid":\s*"' + re.escape(owner.uid) + '"'
        return re.compile(pattern.encode())
    # Two keys that follow each other, since the API server sorts them.
    texts = annotations_naming(owner)
    pairs = [
        re.escape(f'"{key}":') + r"\s*" + re.escape(f'"{texts[key]}"')
        for key in (OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION)
    ]
    return re.compile(r",\s*".join(pairs).encode())


def _possible_ties(owner: Owner, resource: Resource, namespace: str) -> set[Tie]:
    if resource.namespaced and not namespace and owner.namespace:
        return {Tie.REFERENCE, Tie.ANNOTATIONS}  # a list over all namespaces shows both
    return {tie_for(owner, is_namespaced=resource.namespaced, namespace=namespace)}


def _is_followed(credential: RunCredential, resource: Resource, tie: Tie) -> bool:
    watch = credential.watch
    if not watch.watch_dependent_resources or resource.gvk in watch.blacklist:
        return False
    if resource.gvk.kind == "Event" and resource.gvk.group in _GROUPS_OF_EVENTS:
        return False
    if tie is Tie.ANNOTATIONS and not resource.namespaced:
        return watch.watch_cluster_scoped_resources
    return True
