"""A world: what answers the requests of a run in place of the API server alone.

A run without effect has one: all that its play asks for comes here, but for discovery. It decides
what the API server is asked, under the engine's login and in the play's name. Requests and answers are
whole, and in plain values, so that the author of a world need not know HTTP libraries.

What opens a stream comes here as well, to be refused: a world answers once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from rolecall.json_object import Json
from rolecall.proxy.bodies import PROTOBUF, parse_body
from rolecall.proxy.identity import Owner
from rolecall.proxy.owners import (
    Additions,
    kept_by_apply,
    kept_by_replace,
    owner_additions,
    tie_for,
)
from rolecall.proxy.protobuf import ProtobufBody, UnreadableBodyError
from rolecall.proxy.request_info import RequestInfo


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """A request of a play."""

    method: str
    target: str  # path and query, encoded as they came
    query: Mapping[str, str]
    info: RequestInfo
    media_type: str  # of the body
    accept: str
    body: bytes
    is_upgrade: bool
    at_s: float  # on the clock that never jumps
    owner: Ownership | None  # None: what is created gets no owner

    @property
    def is_protobuf(self) -> bool:
        """Whether the body is in the format of typed clients, which worlds do not read."""
        return self.media_type == PROTOBUF

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def without_version(self) -> PlayRequest:
        """One in protobuf, for a server that knows the object at another version, or not at all."""
        try:
            return replace(self, body=ProtobufBody(self.body).without_version())
        except UnreadableBodyError:
            return self  # the server says what is wrong with it

    def in_json(self, said: Json) -> PlayRequest:
        """One in protobuf, with a body that a server read; the version stays what the play named."""
        version = ProtobufBody(self.body).metadata.get("resourceVersion", "")
        kept = {key: said["metadata"][key] for key in said["metadata"] if key != "resourceVersion"}
        metadata = {**kept, **({"resourceVersion": version} if version else {})}
        body = json.dumps({**said, "metadata": metadata}).encode()
        return replace(self, media_type="application/json", body=body)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, of the API server or of a world."""

    code: int
    media_type: str
    body: bytes


class ApiServer(Protocol):
    """The API server, asked as the user that asked the world."""

    async def send(
        self, method: str, target: str, *, accept: str, media_type: str = "", body: bytes = b""
    ) -> Said: ...


class World(Protocol):
    async def answer(self, asked: PlayRequest, server: ApiServer) -> Said: ...


@dataclass(frozen=True, slots=True)
class Ownership:
    """Writes owners into objects, by the rules of `owners`."""

    owner: Owner

    def of_new(self, body: Json, *, is_namespaced: bool, namespace: str) -> Json:
        """An object that is created."""
        tie = tie_for(self.owner, is_namespaced=is_namespaced, namespace=namespace)
        return _with(body, owner_additions(_metadata(body), self.owner, tie))

    def of_new_encoded(
        self, media_type: str, data: bytes, *, is_namespaced: bool, namespace: str
    ) -> bytes:
        """The same for one that is not read here: in protobuf, as kubectl sends it."""
        body = parse_body(media_type, data)
        tie = tie_for(self.owner, is_namespaced=is_namespaced, namespace=namespace)
        additions = owner_additions(body.metadata, self.owner, tie)
        return body.with_additions(additions) if additions else data

    def of_replaced(self, body: Json, there: Json) -> Json:
        """An object that replaces one that is there."""
        return _with(body, kept_by_replace(_metadata(there), _metadata(body)))

    def of_applied(self, body: Json, there: Json, field_manager: str) -> Json:
        """An object that is applied over one that is there."""
        return _with(body, kept_by_apply(_metadata(there), _metadata(body), field_manager))


def _metadata(body: Json) -> Json:
    metadata = body.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _with(body: Json, additions: Additions) -> Json:
    if not additions:
        return body
    metadata = dict(_metadata(body))
    if additions.references:
        metadata["ownerReferences"] = [
            *(metadata.get("ownerReferences") or ()),
            *(dict(row) for row in additions.references),
        ]
    if additions.annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **additions.annotations}
    return {**body, "metadata": metadata}
