"""What the webhook server answers: to the API server, and to other clients."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from rolecall.clock import SystemClock
from rolecall.conversion import Conversion, VersionStep
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.extensions.versions.webhooks.publication import reach_of
from rolecall.extensions.versions.webhooks.routes import Asked, WebhookRoutes
from rolecall.json_object import Json
from rolecall.listening import Address, served
from rolecall.settings import Settings
from rolecall.webhooks import NoVerdictError, Webhook, registration_of

OURS = "system:serviceaccount:here:operator"
WEBHOOK = Webhook(is_mutating=False, group="example.com", version="v1", kind="App")
STEPS = (VersionStep("v1", "v2"),)


async def answer(webhook: Webhook, review: Json) -> Json:
    """Fails for objects that say so."""
    if review["request"].get("name") == "fails":
        raise NoVerdictError("the play crashed")
    return {"response": {"uid": review["request"]["uid"], "allowed": False}}


class Broken(Conversion):
    def convert(self, source: Json, version: str) -> Json:
        raise RuntimeError("a bug")


@pytest.fixture
def counted() -> list[tuple[str, bool, int]]:
    return []


@pytest.fixture
async def url(counted: list[tuple[str, bool, int]]) -> AsyncIterator[str]:
    conversions = [
        Conversion("example.com", "App", ("v1", "v2"), STEPS),
        Broken("example.com", "Broken", ("v1", "v2"), STEPS),
    ]

    async def own_user() -> str:
        return OURS

    asked = Asked(conversions, [WEBHOOK], answer)
    routes = WebhookRoutes(
        asked, own_user, SystemClock(), lambda *reported: counted.append(reported[:3])
    )
    async with served(routes.app(), Address("127.0.0.1", 0), what="webhooks") as port:
        yield f"http://127.0.0.1:{port}"


async def post(url: str, body: Any) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with aiohttp.ClientSession() as session, session.post(url, data=data) as answer:
        return answer.status, await answer.text()


def conversion(*objects: Any, to: str = "v2") -> Json:
    request = {"uid": "1", "desiredAPIVersion": f"example.com/{to}", "objects": list(objects)}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


def app(name: str = "x", kind: str = "App", version: str = "v1") -> Json:
    return {"apiVersion": f"example.com/{version}", "kind": kind, "metadata": {"name": name}}


def admission(user: str = "stranger", **more: str) -> Json:
    request = {"uid": "1", "userInfo": {"username": user}, **more}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


async def converted(url: str, body: Json) -> Json:
    status, text = await post(f"{url}/convert", body)
    assert status == 200
    response: Json = json.loads(text)["response"]
    return response


async def test_objects_come_back_converted_and_are_counted(
    url: str, counted: list[tuple[str, bool, int]]
) -> None:
    response = await converted(url, conversion(app("a"), app("b")))
    versions = [each["apiVersion"] for each in response["convertedObjects"]]
    assert versions == ["example.com/v2"] * 2
    assert response["result"] == {"status": "Success"}
    assert counted == [("App.example.com", True, 2)]


@pytest.mark.parametrize(
    ("objects", "to", "said"),
    [
        ([app(version="v7")], "v2", "version `v7` of `App`"),
        ([app(kind="Other")], "v2", "has no `Other` in `example.com`"),
        ([app(kind="Broken")], "v2", "internal error of the operator"),
        (["text"], "v2", "internal error of the operator"),
    ],
)
async def test_what_cannot_be_converted_is_a_failure_that_says_why(
    url: str, counted: list[tuple[str, bool, int]], objects: Sequence[Any], to: str, said: str
) -> None:
    response = await converted(url, conversion(*objects, to=to))
    assert response["result"]["status"] == "Failure"
    assert said in response["result"]["message"]
    assert [row[1] for row in counted] == [False]


@pytest.mark.parametrize("path", ["/convert", WEBHOOK.path])
@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b"{}", b"[" * 20_000, b'{"request": {"uid": 1}}']
)
async def test_what_is_no_review_is_refused(url: str, path: str, body: bytes) -> None:
    assert (await post(url + path, body))[0] == 400


async def test_operator_itself_is_let_through_without_being_asked_about(url: str) -> None:
    assert '"allowed": true' in (await post(url + WEBHOOK.path, admission(OURS)))[1]
    assert '"allowed": false' in (await post(url + WEBHOOK.path, admission()))[1]


async def test_review_without_a_verdict_is_an_error_of_the_server(url: str) -> None:
    status, said = await post(url + WEBHOOK.path, admission(name="fails"))
    assert (status, said) == (500, "the play crashed\n")


def test_api_server_on_this_machine_reaches_us_at_the_port_that_is_open() -> None:
    outside = Settings()
    found = reach_of(outside, "127.0.0.1", 1234)
    assert found is not None
    assert found.client_config("/convert", "x")["url"] == "https://127.0.0.1:1234/convert"
    assert reach_of(outside, "10.0.0.1", 1234) is None
    assert reach_of(replace(outside, is_in_pod=True), "127.0.0.1", 1234) is None


def test_service_is_named_with_its_namespace_and_so_is_the_certificate() -> None:
    found = reach_of(
        Settings(namespace="here", of_extensions=(VersionFlags(service="webhooks"),)),
        "10.0.0.1",
        9443,
    )
    assert found is not None
    assert found.names[0] == "webhooks.here.svc"
    service = found.client_config("/convert", "x")["service"]
    assert service == {
        "namespace": "here",
        "name": "webhooks",
        "path": "/convert",
        "port": 443,
    }


def test_user_with_a_quote_in_its_name_stays_inside_of_the_expression() -> None:
    (condition,) = registration_of(WEBHOOK, "apps", {}, "o'n\\e")["matchConditions"]
    assert condition["expression"] == "request.userInfo.username != 'o\\'n\\\\e'"
