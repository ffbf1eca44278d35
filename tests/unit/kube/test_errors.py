"""An answer that says no becomes the error that means it, and never quotes a body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    GoneError,
    NoSuchKindError,
    NotFoundError,
    Resource,
    Target,
    UnauthorizedError,
    UnavailableError,
    UnprocessableError,
)
from rolecall.kube.errors import error_for

DEPLOYMENTS = Resource(Gvk("apps", "v1", "Deployment"), "deployments", namespaced=True)
TARGET = Target("patch", DEPLOYMENTS, "shop", "web", "status")


def status(code: int, **fields: Any) -> bytes:
    return json.dumps({"kind": "Status", "code": code, **fields}).encode()


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", UnauthorizedError),
        (403, "Forbidden", ForbiddenError),
        (404, "NotFound", NotFoundError),
        (409, "Conflict", ConflictError),
        (409, "AlreadyExists", AlreadyExistsError),
        (410, "Expired", GoneError),
        (422, "Invalid", UnprocessableError),
        (429, "TooManyRequests", UnavailableError),
        (503, "ServiceUnavailable", UnavailableError),
        (504, "Timeout", UnavailableError),
        (500, "InternalError", ApiError),
        (400, "BadRequest", ApiError),
    ],
)
def test_each_code_has_its_meaning(code: int, reason: str, kind: type[ClusterError]) -> None:
    error = error_for(TARGET, code, status(code, reason=reason, message="said the server"))
    assert type(error) is kind
    assert error.message == "could not patch deployments/status.apps `shop/web`: said the server"


def test_refusal_names_the_rule_to_add() -> None:
    error = error_for(TARGET, 403, status(403, reason="Forbidden", message="no"))
    assert isinstance(error, ForbiddenError)
    assert error.rule == '{apiGroups: ["apps"], resources: [deployments/status], verbs: [patch]}'
    assert error.hint == (
        'add `- {apiGroups: ["apps"], resources: [deployments/status], verbs: [patch]}` to a role'
        " in config/rbac, or let `rolecall rbac` write it"
    )


def test_object_that_is_gone_and_kind_that_is_gone_are_distinguished() -> None:
    assert isinstance(error_for(TARGET, 404, status(404)), NotFoundError)
    error = error_for(TARGET, 404, b"404 page not found\n")
    assert isinstance(error, NoSuchKindError)
    assert not isinstance(error, NotFoundError)


@pytest.mark.parametrize("body", [b"<html>hunter2</html>", b'{"data": "hunter2"}', b"\xff", b""])
def test_body_that_is_no_status_is_not_quoted(body: bytes) -> None:
    error = error_for(TARGET, 500, body)
    assert error.message.endswith("the server answered 500")
