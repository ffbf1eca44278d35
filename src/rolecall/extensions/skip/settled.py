"""What is kept of a run after which nothing was left to do, and why nothing is kept of another.

Kept is only what proves that the next run would do the same: a run that was good and pure, whose
record is complete, and that changed nothing. So what it read leads to no write; where all it read is as
it was, the next run reads the same and writes as little. Of a run that changed something this cannot be
said: it read what was there before its own writes.

As text, since ten thousand of them are held: a digest of the inputs, one of all that was read, and the
places to read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter

from rolecall.extensions.skip.current_reads import is_about_server
from rolecall.json_object import Json
from rolecall.record import ObjectPlace, RecordedRequest, RunRecord, objects_of
from rolecall.runner import RunResult

_LENGTH = 32
_MOST_PLACES = 200
_MISSING = 404
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Settled:
    """The last run of a CR: what it was given, what it read, when it was."""

    inputs: str
    reads: str
    ran_at: int  # seconds since 1970
    places: tuple[ObjectPlace, ...]
    owned: frozenset[ObjectPlace] = frozenset()
    variables: tuple[str, ...] = ()

    def text(self) -> bytes:
        rows = [[*texts_of(place), place in self.owned] for place in self.places]
        values = [self.inputs, self.reads, self.ran_at, list(self.variables), rows]
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def of_text(cls, text: bytes) -> Settled:
        """Raises ValueError where it is not one."""
        try:
            inputs, reads, ran_at, variables, rows = json.loads(text)
            places = [ObjectPlace(*map(str, row[:7])) for row in rows]
            owned = [place for place, row in zip(places, rows, strict=True) if row[7]]
            names = tuple(map(str, variables))
            return cls(str(inputs), str(reads), int(ran_at), tuple(places), frozenset(owned), names)
        except (TypeError, LookupError) as error:
            raise ValueError("not what a run left") from error


@dataclass(frozen=True, slots=True)
class Reads:
    """What a run read of the API, but for its CR."""

    states: Mapping[ObjectPlace, str]
    owned: frozenset[ObjectPlace]

    @property
    def digest(self) -> str:
        return digest_of_reads(self.states)


# Not `astuple`, which copies each text: the half of what a skip took.
texts_of = attrgetter(*(field.name for field in fields(ObjectPlace)))


def digest_of_reads(states: Mapping[ObjectPlace, str]) -> str:
    """Of each place with what was found there."""
    lines = sorted("\0".join((*texts_of(place), state)) for place, state in states.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_LENGTH]


def why_not_settled(result: RunResult, record: RunRecord | None) -> str:
    """Why nothing can be said of the next run; the first reason."""
    if not result.succeeded:
        return "it failed"
    if result.impure:
        return result.impure
    if result.requeue_after_s is not None:
        return "the role asked to be run again"
    if record is None:
        return "its requests were not noted"
    objects = objects_of(record)
    if objects.unknown:
        return objects.unknown
    return next(filter(None, map(_why_unclear, record.requests)), "")


def has_changed(result: RunResult, record: RunRecord) -> bool:
    """Whether the run did anything, so that the next one finds another world."""
    return bool(result.changed_tasks) or objects_of(record).has_changed


def reads_of(record: RunRecord, cr: Json) -> Reads | None:
    """What the run read and wrote; None where it is too much to look at again and again.

    Not the CR itself: that is an input, and each status of ours is a new version of it.
    """
    objects = objects_of(record)
    found = {read.place: read for read in (*objects.written, *objects.reads)}
    states = {
        place: f"{read.state} {read.uid}".strip()
        for place, read in found.items()
        if not read.uid or read.uid != cr["metadata"].get("uid")
    }
    if len(states) > _MOST_PLACES:
        return None
    return Reads(states, frozenset(objects.owned & states.keys()))


def _why_unclear(request: RecordedRequest) -> str:
    """Of a request that was no plain read or good write."""
    if not request.resource:
        # Kinds, schemas and the server's version are inputs of all runs.
        is_input = is_about_server(request.path) and request.verb in ("get", "head")
        return "" if is_input else f"{request.verb} {request.path}: what it answers is not known"
    return _why_unclear_object(request)


def _why_unclear_object(request: RecordedRequest) -> str:
    is_good = 200 <= request.code < 300
    request_text = f"{request.verb} {request.resource_name}"
    if request.subresource not in ("", "status", "scale"):
        return f"{request_text}: `{request.subresource}` is not an object"
    if request.verb in ("get", "list"):
        return _why_unclear_read(request, request_text, is_good=is_good)
    if request.verb not in _WRITES or request.is_dry_run:
        return f"{request_text}: what it depends on is not known"
    return "" if is_good else f"{request_text} was answered {request.code}"


def _why_unclear_read(request: RecordedRequest, request_text: str, *, is_good: bool) -> str:
    is_get = request.verb == "get"
    if not (is_good or (is_get and request.code == _MISSING)):
        return f"{request_text} was answered {request.code}"
    if is_get and is_good and not request.object_version:
        return f"{request_text}: the object has no version"
    return f"{request_text}: only a part was read" if "limit=" in request.query else ""
