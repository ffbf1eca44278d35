"""Answers of a world in the API server's words: objects, lists, and each reason to refuse."""

from __future__ import annotations

import json
from typing import Any

from rolecall.json_object import Json
from rolecall.plan.overlay import ObjectIdentity
from rolecall.proxy import Said

JSON_TYPE = "application/json"
_METADATA = "as=PartialObjectMetadata"
_PLAIN = (JSON_TYPE, "*/*", "application/*", "application/vnd.kubernetes.protobuf")
_CAUSE = "RolecallPlan"


class NotAnswerableError(Exception):
    """A request that no world can answer honestly; the text says what it was."""


def object_said(found: Json, accept: str, code: int = 200) -> Said:
    """An object, in a form that was asked for."""
    if wants_metadata_only(accept):
        found = metadata_of(found)
    elif not takes_plain_json(accept):
        raise NotAnswerableError(f"an answer as `{accept}` of an object that the plan wrote")
    return Said(code, JSON_TYPE, _dumped(found))


def wants_metadata_only(accept: str) -> bool:
    """Whether metadata alone is what was asked for first."""
    return _METADATA in accept.split(",", maxsplit=1)[0]


def takes_plain_json(accept: str) -> bool:
    """Whether a plain object or list is among what was asked for.

    Clients that ask for protobuf alone read JSON as well, by the type that the answer has.
    """
    kinds = [part.strip() for part in accept.split(",")]
    return not accept or any(
        ";as=" not in kind and kind.partition(";")[0] in _PLAIN for kind in kinds
    )


def metadata_of(found: Json) -> Json:
    """Its metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": found.get("metadata") or {},
    }


def list_said(document: Json, accept: str) -> Said:
    """A list, in a form that was asked for."""
    if wants_metadata_only(accept):
        document = {
            **document,
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "items": [metadata_of(item) for item in document["items"]],
        }
    elif not takes_plain_json(accept):
        raise NotAnswerableError(f"an answer as `{accept}` of a list that the plan changed")
    return Said(200, JSON_TYPE, _dumped(document))


def not_found(identity: ObjectIdentity) -> Said:
    what = _resource(identity)
    return _status(404, "NotFound", f'{what} "{identity.name}" not found', identity)


def already_there(identity: ObjectIdentity) -> Said:
    what = _resource(identity)
    return _status(409, "AlreadyExists", f'{what} "{identity.name}" already exists', identity)


def conflict(identity: ObjectIdentity) -> Said:
    what = _resource(identity)
    text = (
        f'Operation cannot be fulfilled on {what} "{identity.name}": the object has been modified;'
        " please apply your changes to the latest version and try again"
    )
    return _status(409, "Conflict", text, identity)


def unprocessable(identity: ObjectIdentity, why: str) -> Said:
    return _status(422, "Invalid", why, identity)


def expired() -> Said:
    text = "The provided continue parameter is too old"
    return _status(410, "Expired", text, None)


def refused(why: str) -> Said:
    """What no plan can answer."""
    text = f"a plan cannot answer this: {why}"
    return _status(403, "Forbidden", text, None, cause=_CAUSE)


def deleted_said(identity: ObjectIdentity, uid: str) -> Said:
    details = {"name": identity.name, "group": identity.group, "kind": identity.plural, "uid": uid}
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }
    return Said(200, JSON_TYPE, _dumped(document))


def document_in(said: Said) -> Json:
    """The object that the API server answered with; empty where it is none."""
    if not said.media_type.startswith(JSON_TYPE):
        return {}
    try:
        found = json.loads(said.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _status(
    code: int, reason: str, message: str, identity: ObjectIdentity | None, *, cause: str = ""
) -> Said:
    details: dict[str, Any] = {}
    if identity is not None:
        details = {"name": identity.name, "group": identity.group, "kind": identity.plural}
    if cause:
        details["causes"] = [{"reason": cause, "message": message}]
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    return Said(code, JSON_TYPE, _dumped(document))


def _resource(identity: ObjectIdentity) -> str:
    return f"{identity.plural}.{identity.group}" if identity.group else identity.plural


def _dumped(document: Json) -> bytes:
    return json.dumps(document).encode()
