"""Answers a `ConversionReview`: with all of its objects, or the reason why one could not be."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.conversion import Conversion, ConversionError
from rolecall.extensions.versions.webhooks.bodies import ReviewError, review_in
from rolecall.json_object import Json

_logger = logging.getLogger(__name__)
_VERSIONS = ("apiextensions.k8s.io/v1",)


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted of a conversion."""

    kind: str
    is_success: bool
    count: int


def answer_conversions(conversions: Sequence[Conversion], data: bytes) -> tuple[Counted, bytes]:
    """Blocking. An unexpected error goes into the response, and with its traceback into the log."""
    review = review_in(data)
    try:
        answer = answer_conversion(conversions, review)
    except ReviewError:
        raise
    except Exception as failure:
        _logger.exception("internal error: could not convert")
        answer = _failed(review, f"internal error of the operator, see its log: {failure!r}")
    request, response = review["request"], answer["response"]
    objects = request["objects"]
    kind = _kind_of(conversions, request, objects)
    is_success = response["result"]["status"] == "Success"
    body = json.dumps(answer, separators=(",", ":")).encode()
    return Counted(kind, is_success, len(objects)), body


def _failed(review: Json, message: str) -> Json:
    result = {"status": "Failure", "message": message}
    uid = (review.get("request") or {}).get("uid")
    response: Json = {"uid": uid, "convertedObjects": [], "result": result}
    kind = {"apiVersion": review["apiVersion"], "kind": "ConversionReview"}
    return {**kind, "response": response}


def _kind_of(conversions: Sequence[Conversion], request: Json, objects: Sequence[Any]) -> str:
    """The kind, if we know it: a request of any client must not create series of metrics."""
    group = str(request["desiredAPIVersion"]).rpartition("/")[0]
    first = objects[0].get("kind") if objects and isinstance(objects[0], dict) else ""
    known = (each for each in conversions if (each.group, each.kind) == (group, first))
    return next((f"{each.kind}.{each.group}" for each in known), "unknown")


def answer_conversion(conversions: Sequence[Conversion], review: Json) -> Json:
    """The review with its response. A refusal names the object: the API server shows it to the user."""
    request = review.get("request")
    if review.get("apiVersion") not in _VERSIONS or not isinstance(request, dict):
        raise ReviewError("the body is not a ConversionReview of apiextensions.k8s.io/v1")
    uid, objects = request.get("uid"), request.get("objects")
    wanted = request.get("desiredAPIVersion")
    if not isinstance(uid, str) or not isinstance(wanted, str) or not isinstance(objects, list):
        raise ReviewError("the review lacks `uid`, `desiredAPIVersion` or `objects`")
    try:
        converted = [_converted(conversions, item, wanted) for item in objects]
        response = {"uid": uid, "convertedObjects": converted, "result": {"status": "Success"}}
    except ConversionError as error:
        result = {"status": "Failure", "message": str(error)}
        response = {"uid": uid, "convertedObjects": [], "result": result}
    return {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}


def _converted(conversions: Sequence[Conversion], item: Json, wanted: str) -> Json:
    group, _, version = wanted.rpartition("/")
    kind = item.get("kind")
    found = next((it for it in conversions if (it.group, it.kind) == (group, kind)), None)
    if found is None:
        raise ConversionError(
            f"conversions.yaml of this operator has no `{kind}` in `{group}`",
            hint="the CRD is of another version of the operator than the one that runs",
        )
    try:
        return found.convert(item, version)
    except ConversionError as error:
        metadata = item.get("metadata") or {}
        name = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        raise ConversionError(f"{kind} {name}: {error.message}", hint=error.hint) from error
