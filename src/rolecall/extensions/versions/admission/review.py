"""The two ends of an AdmissionReview: the variable that a play gets, and the answer that it gave."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from rolecall.json_object import Json, as_map

# More of it the API server would cut off: a warning is for 120 letters, all of them for 4096.
_LONGEST_WARNING, _MOST_WARNINGS = 250, 12
_LONGEST_DENIAL, _MOST_DENIALS = 500, 10


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """The response to the API server."""

    denials: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    patch: tuple[Json, ...] = ()

    @property
    def is_allowed(self) -> bool:
        return not self.denials

    @property
    def message(self) -> str:
        """Every denial, in one line each, as one text."""
        return "; ".join(one_line(text, _LONGEST_DENIAL) for text in self.denials[:_MOST_DENIALS])


def variable_of(request: Json) -> Json:
    """The variable `admission`: the request in words of roles."""
    user = as_map(request.get("userInfo"))
    return {
        "object": request.get("object"),
        "old_object": request.get("oldObject"),
        "operation": str(request.get("operation") or ""),
        "user": {
            "username": user.get("username") or "",
            "groups": user.get("groups") or [],
            "uid": user.get("uid") or "",
        },
        "namespace": namespace_of(request),
        "name": name_of(request),
        "subresource": str(request.get("subResource") or ""),
        "dry_run": request.get("dryRun") is True,
        "options": request.get("options"),
    }


def name_of(request: Json) -> str:
    """Empty where the API server will make one up."""
    metadata = as_map(as_map(request.get("object")).get("metadata"))
    return str(request.get("name") or metadata.get("name") or "")


def namespace_of(request: Json) -> str:
    return str(request.get("namespace") or "")


def review_of(review: Json, answer: ReviewAnswer) -> Json:
    """The review that goes back."""
    response: Json = {"uid": review["request"]["uid"], "allowed": answer.is_allowed}
    if not answer.is_allowed:
        response["status"] = {"code": 403, "reason": "Forbidden", "message": answer.message}
    if answer.warnings:
        kept = answer.warnings[:_MOST_WARNINGS]
        response["warnings"] = [one_line(text, _LONGEST_WARNING) for text in kept]
    if answer.patch and answer.is_allowed:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(answer.patch).encode()).decode()
    return {
        "apiVersion": review["apiVersion"],
        "kind": "AdmissionReview",
        "response": response,
    }


def one_line(text: str, longest: int) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= longest else f"{line[: longest - 4]} ..."
