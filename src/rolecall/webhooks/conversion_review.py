"""Answers a `ConversionReview`: with all of its objects, or the reason why one could not be."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.conversion import Conversion, ConversionError
from rolecall.json_object import Json

_VERSIONS = ("apiextensions.k8s.io/v1",)


class ReviewError(ValueError):
    """What arrived is no review, so that nobody can be answered."""


def answer_conversion(conversions: Sequence[Conversion], review: Json) -> Json:
    """The review with its response. A refusal names the object: the API server shows it to the user."""
    request = review.get("request")
    if review.get("apiVersion") not in _VERSIONS or not isinstance(request, dict):
        raise ReviewError("this is no ConversionReview of apiextensions.k8s.io/v1")
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
