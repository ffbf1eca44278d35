"""What the proxy says itself has the shape of the API server's own answers, for each way to fail."""

from __future__ import annotations

import json

import aiohttp
import pytest

from rolecall.errors import NotLeadingError
from rolecall.kube import UnavailableError
from rolecall.proxy.answers import refusal, unauthorized
from rolecall.proxy.failures import refusal_for
from rolecall.proxy.forward import BodyTooLargeError


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (413, "RequestEntityTooLarge"),
        (415, "UnsupportedMediaType"),
        (500, "InternalError"),
        (502, "ServiceUnavailable"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
def test_refusal_is_a_status_that_says_who_refused(code: int, reason: str) -> None:
    said = refusal(code, "no", headers={"X": "y"})
    assert isinstance(said.body, bytes)
    assert json.loads(said.body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "no",
        "reason": reason,
        "details": {"causes": [{"reason": "Proxy", "message": "no"}]},
        "code": code,
    }
    assert (said.status, said.content_type, said.headers["X"]) == (code, "application/json", "y")


def test_who_has_no_credential_is_asked_for_one() -> None:
    said = unauthorized()
    assert (said.status, said.headers["WWW-Authenticate"]) == (401, 'Basic realm="rolecall"')


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (BodyTooLargeError(), 413, "Request entity too large: limit is 3145728"),
        (TimeoutError(), 504, "the API server gave no answer in time"),
        (NotLeadingError("PUT"), 503, "this run can write nothing more"),
        (UnavailableError("gone", is_timeout=True), 504, "was not sent to the API server: gone"),
        (UnavailableError("gone"), 502, "was not sent to the API server: gone"),
        (aiohttp.ClientError("x"), 502, "the API server could not be reached"),
        (OSError("x"), 502, "the API server could not be reached"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_each_way_to_fail_has_its_code_and_cause(failure: Exception, code: int, words: str) -> None:
    said = refusal_for(failure)
    assert isinstance(said.body, bytes)
    assert said.status == code
    assert words in json.loads(said.body)["message"]
    assert "Retry-After" not in said.headers
