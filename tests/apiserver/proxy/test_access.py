"""Only a run in flight gets in, and only while it lasts."""

from __future__ import annotations

import json
import logging
import stat
from typing import Any

import aiohttp
import pytest
import yaml

from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import OpenProxy, Run, RunningProxy, config_map
from tests.fixtures.eventually import eventually_async


async def test_kubeconfig_has_the_known_shape(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    assert stat.S_IMODE(run.kubeconfig.stat().st_mode) == 0o600
    config = yaml.safe_load(run.kubeconfig.read_text())
    user = config["users"][0]["user"]
    server = config["clusters"][0]["cluster"]["server"]
    assert config["current-context"] == f"{namespace}/proxy-server"
    assert config["contexts"][0]["context"] == {
        "cluster": "proxy-server",
        "user": "admin/proxy-server",
    }
    assert server == (
        f"http://{user['username']}:{user['password']}@localhost:{running_proxy.proxy.port}"
    )


@pytest.mark.fast
async def test_without_a_credential_nothing_is_answered(
    running_proxy: RunningProxy, run: Run
) -> None:
    for authorization in ("", "Bearer x", "Basic !", aiohttp.encode_basic_auth("a", "unused")):
        async with (
            aiohttp.ClientSession(headers={"Authorization": authorization}) as session,
            session.get(run.url.with_user(None).with_path("/api/v1/secrets")) as response,
        ):
            assert response.status == 401
            status = await response.json()
            assert status["kind"] == "Status"
            assert "credential of a current run" in status["message"]


async def test_name_of_another_owner_with_a_live_password_is_refused(run: Run) -> None:
    authorization = aiohttp.encode_basic_auth("stranger", run.url.password or "")
    async with (
        aiohttp.ClientSession(headers={"Authorization": authorization}) as session,
        session.get(run.url.with_user(None).with_path("/api/v1/secrets")) as response,
    ):
        assert response.status == 401


@pytest.mark.fast
async def test_credential_ends_with_its_run(running_proxy: RunningProxy, cr: Json) -> None:
    async with running_proxy.run_for(cr) as run:
        async with run.request("GET", "/version") as response:
            assert response.status == 200
        url = run.url
    assert not run.kubeconfig.exists()
    async with aiohttp.ClientSession() as session, session.get(url / "version") as response:
        assert response.status == 401


async def test_requests_still_open_when_the_run_ends_are_cut(
    running_proxy: RunningProxy, cr: Json, namespace: str
) -> None:
    async with aiohttp.ClientSession() as session:
        async with running_proxy.run_for(cr) as run:
            path = f"api/v1/namespaces/{namespace}/configmaps"
            response = await session.get((run.url / path).with_query(watch="true"))
            assert await response.content.readline()
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.content.read()
        response.close()


async def test_the_credential_and_what_is_sent_are_never_logged(
    running_proxy: RunningProxy, run: Run, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await run.kubectl("create", "-f", "-", stdin=config_map(namespace, key="hush"))
    said = "\n".join(str(record.__dict__) for record in caplog.records)
    assert "'verb': 'create'" in said
    assert (run.url.password or "-") not in said
    assert (run.url.user or "-") not in said
    assert "hush" not in said


async def test_refusal_by_rbac_is_reported_in_the_api_servers_words(
    open_proxy: OpenProxy, service_account_kubeconfig: Any, namespace: str
) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]
    async with (
        open_proxy(service_account_kubeconfig(rules)) as running_proxy,
        running_proxy.run_for(running_proxy.owner_in(namespace)) as run,
    ):
        ended = await run.kubectl("get", "secrets", "-n", namespace)
        assert "cannot list resource" in ended.stderr
        apply = ("apply", "--server-side", "-f", "-")
        ended = await run.kubectl(*apply, stdin=config_map(namespace))
        assert "cannot get resource" in ended.stderr
        ended = await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
        assert ended.code == 0, ended.stderr


async def test_what_plays_ask_is_recorded(
    open_proxy: OpenProxy, namespace: str, tmp_path: Any
) -> None:
    record = tmp_path / "record.jsonl"
    path = f"/api/v1/namespaces/{namespace}/configmaps/made"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    options: Json = {"json": config_map(namespace), "headers": headers}
    async with (
        open_proxy(record=record) as running_proxy,
        running_proxy.run_for(running_proxy.owner_in(namespace)) as run,
    ):
        async with run.request("GET", f"/api/v1/namespaces/{namespace}/secrets"):
            pass
        async with run.request("PATCH", f"{path}?fieldManager=play", **options):
            pass
        lines = await eventually_async(
            lambda: [json.loads(line) for line in record.read_text().splitlines()],
            lambda found: len(found) == 4,
        )
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert lines[0] == {
        "for": "/v1, Kind=ConfigMap",
        "verb": "list",
        "group": "",
        "resource": "secrets",
        "subresource": "",
        "namespace": namespace,
        "name": "",
        "code": 200,
    }
    assert [line["verb"] for line in lines[1:]] == ["patch", "get", "create"]
