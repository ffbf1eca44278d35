"""Asks the API server what it would make of a write, with `dryRun=All`, so that nothing is kept.

The hard part is what the server cannot judge where it is: an object in a namespace that only the plan
has, or one whose name is taken by an object that the plan deleted. Such a create is tried in a
namespace that exists, or under another name, and the answer is turned back. It says `approximate`,
because what the other namespace has (quotas, limits, policies) is not what the new one will have.

A webhook that has side effects lets no dry run pass. Then the object is taken as it was sent, and
what the webhook would do to it is *unknown*. So is what refers to something that only the plan has,
where the server looks for it.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from rolecall.json_object import Json
from rolecall.plan.answers import JSON_TYPE, NotAnswerableError, document_in
from rolecall.plan.model import Certainty
from rolecall.plan.overlay import Overlay, versioned
from rolecall.plan.reads import identity_of, scope_of
from rolecall.proxy import ApiServer, PlayRequest, Said

_NO_DRY_RUN = re.compile(r"admission webhook \"(?P<name>[^\"]+)\" does not support dry run")
_NOT_FOUND = re.compile(r"\"(?P<name>[^\"]+)\" not found")
_KEPT_QUERY = ("fieldManager", "fieldValidation", "force")
# What a server adds to a new object; one that is created must not name it.
_SERVED = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")


@dataclass(frozen=True, slots=True)
class Tried:
    """What a write would come to."""

    said: Said
    found: Json | None  # the object as it would be; None: the server refused
    certainty: Certainty = Certainty.EXACT
    why: str = ""


class Trials:
    def __init__(self, overlay: Overlay, stand_in: str) -> None:
        self._overlay = overlay
        self._stand_in = stand_in  # a namespace that exists

    async def create(self, asked: PlayRequest, server: ApiServer, body: Json) -> Tried:
        """An object that is not there in the plan; it may be in the cluster."""
        metadata = body.get("metadata") or {}
        name, namespace = str(metadata.get("name") or ""), scope_of(asked)
        sent, why = _to_create(body), ""
        place = namespace
        if self._overlay.is_new_namespace(namespace):
            place = self._stand_in
            why = f"tried in namespace `{place}`, since `{namespace}` does not exist yet"
        if name and (why or self._was_deleted(asked, name)):
            other = await self._free_name(asked, server, place, name)
            why = why or "tried under another name, since the plan deletes the one that is there"
            sent["metadata"]["name"] = other
        if namespace:
            sent["metadata"]["namespace"] = place
        said = await server.send(
            "POST",
            _target(asked, place),
            accept=JSON_TYPE,
            media_type=JSON_TYPE,
            body=json.dumps(sent).encode(),
        )
        tried = self._tried(said, body, certainty=Certainty.APPROXIMATE if why else None, why=why)
        if tried.found is None or not why:
            return tried
        found = tried.found
        own = {**found["metadata"], **({"name": name} if name else {})}
        if namespace:
            own["namespace"] = namespace
        found = {**found, "metadata": own}
        return Tried(_as_said(said, found), found, tried.certainty, tried.why)

    async def send(
        self, asked: PlayRequest, server: ApiServer, body: Any, as_sent: Json | None
    ) -> Tried:
        """A write to an object that the cluster has, as it came, but for its body.

        `as_sent` is what the object would be if the server added nothing.
        """
        said = await server.send(
            asked.method,
            _target(asked, scope_of(asked), asked.info.name),
            accept=JSON_TYPE,
            media_type=asked.media_type,
            body=json.dumps(body).encode(),
        )
        return self._tried(said, as_sent)

    async def create_encoded(self, asked: PlayRequest, server: ApiServer, data: bytes) -> Tried:
        """An object that is sent as it was encoded, to where the play wants it."""
        return await self._tried_encoded(asked, server, data)

    async def decoded(self, asked: PlayRequest, server: ApiServer, *, is_stored: bool) -> Tried:
        """What the body of a PUT says that is not read here: a server is asked, by a trial of it."""
        name = asked.info.name if is_stored else ""
        return await self._tried_encoded(asked, server, asked.body, name)

    async def _tried_encoded(
        self, asked: PlayRequest, server: ApiServer, data: bytes, name: str = ""
    ) -> Tried:
        """A body as it was encoded: for the object of this name, or without one for a new one."""
        namespace = scope_of(asked)
        if self._overlay.is_new_namespace(namespace):
            what = "create" if asked.method == "POST" else "write"
            raise NotAnswerableError(
                f"a {what} of {asked.info.resource} as `{asked.media_type}` in `{namespace}`,"
                " which does not exist yet"
            )
        said = await server.send(
            "PUT" if name else "POST",
            _target(asked, namespace, name),
            accept=JSON_TYPE,
            media_type=asked.media_type,
            body=data,
        )
        return self._tried(said, None)

    async def replace(self, asked: PlayRequest, server: ApiServer, body: Json) -> Tried:
        """An object as the plan has it, in place of the one that the cluster has."""
        sent = {**body, "metadata": {**body["metadata"]}}
        for made_up in ("resourceVersion", "uid"):  # of another, where it was deleted in between
            sent["metadata"].pop(made_up, None)
        said = await server.send(
            "PUT",
            _target(asked, scope_of(asked), asked.info.name),
            accept=JSON_TYPE,
            media_type=JSON_TYPE,
            body=json.dumps(sent).encode(),
        )
        return self._tried(said, body)

    def _tried(
        self, said: Said, as_sent: Json | None, *, certainty: Certainty | None = None, why: str = ""
    ) -> Tried:
        document = document_in(said)
        if said.code < 300:
            return Tried(said, versioned(document), certainty or Certainty.EXACT, why)
        doubt = self._doubt(str(document.get("message") or ""))
        if not doubt or as_sent is None:
            return Tried(said, None)
        metadata = {"uid": str(uuid.uuid4()), **(as_sent.get("metadata") or {})}
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = f"{metadata['generateName']}{uuid.uuid4().hex[:5]}"
        found = versioned({**as_sent, "metadata": metadata})
        return Tried(_as_said(said, found, 200), found, Certainty.UNKNOWN, doubt)

    def _doubt(self, message: str) -> str:
        """Why a refusal is one of dry runs only, and not of what was asked for."""
        if match := _NO_DRY_RUN.search(message):
            return f"the webhook `{match['name']}` does not support dry runs"
        only_here = self._overlay.names_only_here()
        for match in _NOT_FOUND.finditer(message):
            if match["name"].rpartition("/")[2] in only_here:
                return f"it refers to `{match['name']}`, which only the plan has"
        return ""

    def _was_deleted(self, asked: PlayRequest, name: str) -> bool:
        identity = replace(identity_of(asked), name=name)
        found = self._overlay.find(identity)
        return found is not None and found.before is not None and found.now is None

    async def _free_name(self, asked: PlayRequest, server: ApiServer, place: str, name: str) -> str:
        """This name where it is free there, else one that is."""
        path = f"{_collection(asked, place)}/{quote(name, safe='')}"
        said = await server.send("GET", path, accept=JSON_TYPE)
        return name if said.code == 404 else f"{name[:40].rstrip('-.')}-{uuid.uuid4().hex[:8]}"


def _target(asked: PlayRequest, namespace: str, name: str = "") -> str:
    query = {key: asked.query[key] for key in _KEPT_QUERY if key in asked.query}
    path = _collection(asked, namespace)
    if name:
        path += f"/{quote(name, safe='')}"
    if asked.info.subresource:
        path += f"/{asked.info.subresource}"
    return f"{path}?{urlencode({**query, 'dryRun': 'All'})}"


def _collection(asked: PlayRequest, namespace: str) -> str:
    info = asked.info
    root = f"/apis/{info.group}/{info.version}" if info.group else f"/api/{info.version}"
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}{scope}/{info.resource}"


def _to_create(body: Json) -> Json:
    metadata = {
        key: value for key, value in (body.get("metadata") or {}).items() if key not in _SERVED
    }
    return {key: value for key, value in {**body, "metadata": metadata}.items() if key != "status"}


def _as_said(said: Said, found: Json, code: int = 0) -> Said:
    return Said(code or said.code, JSON_TYPE, json.dumps(found).encode())
