"""The three servers, asked over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.kube import UnavailableError
from rolecall.listening import Address, served, tls_for_server
from rolecall.listening.tls import self_signed
from rolecall.metrics import (
    EngineMetrics,
    Probe,
    Reviewer,
    RoleMetrics,
    metrics_app,
    probes_app,
    role_metrics_app,
)
from tests.fixtures.authorities import issue
from tests.fixtures.strict_tls import shake_hands, strict_client
from tests.unit.workqueue.virtual_clock import VirtualClock

pytestmark = pytest.mark.usefixtures("executor_that_ends")
ANY = Address("127.0.0.1", 0)
NOW = datetime.now(UTC)


async def asked(
    method: str, url: str, body: bytes | None = None, **headers: str
) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=body, headers=headers, ssl=False) as response,
    ):
        return response.status, await response.text()


@pytest.fixture
async def executor_that_ends() -> AsyncIterator[None]:
    """Metrics are rendered in the loop's own threads, which else outlive the test."""
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


class Reviews:
    """A cluster that knows one token and one right."""

    def __init__(self, *, is_down: bool = False) -> None:
        self.asked: list[str] = []
        self._is_down = is_down

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._is_down:
            raise UnavailableError("down")
        self.asked.append(gvk.kind)
        if gvk.kind == "TokenReview":
            known = body["spec"]["token"] in ("good", "poor")
            return {"status": {"authenticated": known, "user": {"username": body["spec"]["token"]}}}
        assert body["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}
        return {"status": {"allowed": body["spec"]["user"] == "good"}}


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("Bearer good", 200),
        ("Bearer poor", 403),
        ("Bearer bad", 401),
        ("Bearer \udcff", 401),  # bytes that are no text
        ("Basic Zm9v", 401),
        ("Bearer ", 401),
        ("", 401),
    ],
)
async def test_only_tokens_that_may_get_metrics_are_answered(header: str, code: int) -> None:
    app = metrics_app(
        EngineMetrics("1"), RoleMetrics(lambda: 0.0), Reviewer(Reviews(), VirtualClock())
    )
    async with served(app, ANY, what="metrics", tls=tls_for_server(NOW)) as port:
        assert (await asked("GET", f"https://127.0.0.1:{port}/metrics", Authorization=header))[
            0
        ] == code


async def test_answer_about_a_token_is_kept_for_a_minute() -> None:
    reviews, clock = Reviews(), VirtualClock()
    reviewer = Reviewer(reviews, clock)
    for _ in range(3):
        assert await reviewer.code_for("Bearer good", "/metrics") == 200
    assert len(reviews.asked) == 2
    await clock.advance(61)
    assert await reviewer.code_for("Bearer good", "/metrics") == 200
    assert len(reviews.asked) == 4


async def test_cluster_that_cannot_be_asked_means_no() -> None:
    reviewer = Reviewer(Reviews(is_down=True), VirtualClock())
    assert await reviewer.code_for("Bearer good", "/metrics") == 500


async def test_metrics_of_engine_and_roles_are_one_page() -> None:
    roles = RoleMetrics(lambda: 0.0)
    roles.apply({"name": "mine", "description": "", "gauge": {"set": 1}})
    async with served(metrics_app(EngineMetrics("1"), roles, None), ANY, what="metrics") as port:
        code, text = await asked("GET", f"http://127.0.0.1:{port}/metrics")
    assert code == 200
    assert "ansible_operator_build_info" in text
    assert "\nmine 1.0\n" in text


async def test_mounted_certificate_is_served(tmp_path: Path) -> None:
    pair = self_signed(NOW)
    pem = pair.key + pair.certificate
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_bytes(pem)
    app = metrics_app(EngineMetrics("1"), RoleMetrics(lambda: 0.0), None)
    tls = tls_for_server(NOW, tmp_path)
    async with served(app, ANY, what="metrics", tls=tls) as port:
        trusting = ssl.create_default_context(cadata=pem.decode())
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                f"https://127.0.0.1:{port}/metrics", ssl=trusting, server_hostname="localhost"
            ) as response,
        ):
            assert response.status == 200


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/healthz", 200),
        ("/healthz/", 200),
        ("/healthz/ping", 200),
        ("/readyz", 500),
        ("/readyz/readyz", 200),
        ("/readyz?exclude=streams", 200),
        ("/readyz?verbose", 500),
        ("/livez", 404),
    ],
)
async def test_probe_paths_are_those_of_every_component(path: str, code: int) -> None:
    probes = [
        Probe("healthz", {"healthz": lambda: "", "ping": lambda: ""}),
        Probe("readyz", {"readyz": lambda: "", "streams": lambda: "no"}),
    ]
    async with served(probes_app(probes), ANY, what="probes") as port:
        assert (await asked("GET", f"http://127.0.0.1:{port}{path}"))[0] == code


@pytest.mark.parametrize(
    ("method", "path", "body", "answer"),
    [
        ("POST", "/metrics", {"name": "m", "description": "", "gauge": {"set": 1}}, (200, "")),
        (
            "POST",
            "/metrics",
            {"name": "m"},
            (400, "a request should contain at least one metric\n"),
        ),
        ("GET", "/metrics", None, (405, "")),
        ("PUT", "/metrics", {}, (405, "")),
    ],
)
async def test_role_metrics_answer_in_the_go_operators_codes(
    method: str, path: str, body: object, answer: tuple[int, str]
) -> None:
    raw = None if body is None else json.dumps(body).encode()
    async with served(role_metrics_app(RoleMetrics(lambda: 0.0)), ANY, what="roles") as port:
        assert await asked(method, f"http://127.0.0.1:{port}{path}", raw) == answer
        assert (await asked("POST", f"http://127.0.0.1:{port}/other"))[0] == 404


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]"])
async def test_request_that_is_no_json_object_is_refused(body: bytes) -> None:
    async with served(role_metrics_app(RoleMetrics(lambda: 0.0)), ANY, what="roles") as port:
        assert (await asked("POST", f"http://127.0.0.1:{port}/metrics", body))[0] == 400


async def test_port_that_is_taken_is_named() -> None:
    app = probes_app([])
    async with served(app, ANY, what="probes") as port:
        with pytest.raises(InputError, match=f"could not serve metrics on port {port}"):
            async with served(probes_app([]), Address("127.0.0.1", port), what="metrics"):
                pass


def test_strict_checkers_accept_the_certificate_that_metrics_make_for_themselves(
    tmp_path: Path,
) -> None:
    trusted = tmp_path / "trusted.pem"
    pair = self_signed(NOW)
    trusted.write_bytes(pair.key + pair.certificate)
    found = x509.load_pem_x509_certificate(trusted.read_bytes()).extensions
    assert found.get_extension_for_class(x509.KeyUsage).critical
    assert found.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    shake_hands(tls_for_server(NOW, made_from(trusted)), strict_client(trusted), "localhost")


def made_from(pem: Path) -> Path:
    for name in ("tls.crt", "tls.key"):
        (pem.parent / name).write_bytes(pem.read_bytes())
    return pem.parent


@pytest.mark.parametrize("key", ["hello", issue("other").key_pem, issue("x").encrypted_key_pem])
def test_mounted_certificate_that_does_not_fit_is_reported(tmp_path: Path, key: str) -> None:
    (tmp_path / "tls.crt").write_text(issue("mine", hosts=("localhost",)).pem)
    (tmp_path / "tls.key").write_text(key)
    with pytest.raises(InputError, match=r"could not serve with `.*tls\.crt` and `tls\.key`"):
        tls_for_server(NOW, tmp_path)
