"""What is in a run's record, whatever a play does, and what is in no record."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc

import aiohttp
import pytest

from rolecall.extensions.record import notes
from rolecall.json_object import Json
from rolecall.record import RecordedRequest, objects_of, touched_by
from tests.apiserver.proxy.conftest import Run, RunningProxy, config_map

MOST = 60  # instead of ten thousand, which take minutes on a busy machine
PROTOBUF = "application/vnd.kubernetes.protobuf"


def maps(namespace: str, name: str = "") -> str:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    return f"{path}/{name}" if name else path


def the(run: Run, **wanted: object) -> RecordedRequest:
    """The only request that is like this."""
    (found,) = [
        each
        for each in run.record.requests
        if all(getattr(each, name) == value for name, value in wanted.items())
    ]
    return found


async def test_requests_under_a_guessed_credential_are_in_no_record(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    other = running_proxy.owner_in(namespace, "other")
    async with running_proxy.run_for(other) as another:
        pairs = [
            (another.url.user, run.url.password),
            (another.url.user, "guess"),
            (another.url.user, another.kubeconfig.name),
        ]
        for user, password in pairs:
            authorization = aiohttp.encode_basic_auth(user or "", password or "")
            async with (
                aiohttp.ClientSession(headers={"Authorization": authorization}) as session,
                session.get(run.url.with_user(None).with_path(maps(namespace))) as response,
            ):
                assert response.status == 401
        assert not another.record.requests
        assert not run.record.requests


async def test_what_a_job_asks_after_its_play_is_refused_and_in_no_record(
    running_proxy: RunningProxy, cr: Json, namespace: str
) -> None:
    async with running_proxy.run_for(cr) as run:
        async with run.request("GET", maps(namespace)) as response:
            assert response.status == 200
        url = run.url
    path = url.with_path(maps(namespace))
    async with aiohttp.ClientSession() as session, session.get(path) as response:
        assert response.status == 401
    assert len(run.record.requests) == 1


async def test_request_that_a_killed_run_left_open_is_in_its_record(
    run: Run, namespace: str
) -> None:
    async with run.request("GET", maps(namespace), params={"watch": "1"}) as response:
        await response.content.readline()
        open_now = the(run, verb="watch")
        assert (open_now.code, open_now.unread) == (200, "it is a stream")


async def test_streams_are_noted_and_not_kept(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    tracemalloc.start()
    async with run.request("GET", maps(namespace), params={"watch": "1"}) as response:
        await response.content.readline()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(20):
            body = config_map(namespace, f"big-{number}", text="x" * 100_000)
            running_proxy.cluster.api.create(maps(namespace), body)
        seen = b""
        while b'"big-19"' not in seen:
            seen = await asyncio.wait_for(response.content.readline(), 30)
            assert seen, "the watch ended"
        grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    watch = the(run, verb="watch")
    assert (watch.code, watch.unread) == (200, "it is a stream")
    assert watch.answered_bytes > 2_000_000
    assert grown < 1_500_000


async def test_refused_streams_are_answers(run: Run, namespace: str) -> None:
    pod = f"/api/v1/namespaces/{namespace}/pods/none"
    for subresource in ("log", "exec?command=x&stdout=1"):
        async with run.request("GET", f"{pod}/{subresource}") as response:
            assert response.status == 404
    noted = [(each.subresource, each.code, each.unread) for each in run.record.requests]
    assert noted == [("log", 404, ""), ("exec", 404, "")]


async def test_tables_of_kubectl_show_their_objects(run: Run, namespace: str) -> None:
    await run.kubectl("create", "-f", "-", stdin=config_map(namespace, key="value"))
    for words in (["configmap", "made"], ["configmaps"]):
        assert (await run.kubectl("get", *words, "-n", namespace)).code == 0
    one = next(each for each in run.record.requests if each.verb == "get" and each.name == "made")
    listed = the(run, verb="list", resource="configmaps")
    made = the(run, verb="create", resource="configmaps")
    assert one.uid == made.uid
    assert any(f"{namespace}/made@{made.object_version}" == each for each in listed.named_items)
    assert made.manager == "kubectl-create"
    assert ".data.key" in made.leaves


async def test_compressed_answers_are_read_like_others(run: Run, namespace: str) -> None:
    wanted = {"Accept-Encoding": "gzip"}
    for number in range(3):  # enough for an API server to compress what it sends
        body = config_map(namespace, f"long-{number}", text="x" * 60_000)
        async with run.request("POST", maps(namespace), json=body) as response:
            assert response.status == 201
    async with run.request("GET", maps(namespace), headers=wanted) as response:
        assert len((await response.json())["items"]) >= 3
    listed = the(run, verb="list")
    assert (listed.unread, listed.items) == ("", len(listed.named_items))


async def test_compressed_and_broken_bodies_are_noted_without_fields(
    run: Run, namespace: str
) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    bodies = (gzip.compress(b"{}"), b"{" * 5000, b"\xff\x00", b"[" * 100_000)
    for body in bodies:
        async with run.request("POST", maps(namespace), data=body, headers=headers) as response:
            assert response.status >= 400
    assert [each.leaves for each in run.record.requests] == [()] * len(bodies)


_CREATES = {
    "configmaps": ("configmap made --from-literal=a=b", PROTOBUF),
    "secrets": ("secret generic made --from-literal=a=b", PROTOBUF),
    "deployments": ("deployment made --image=busybox", PROTOBUF),
    "roles": ("role made --verb=get --resource=pods", PROTOBUF),
    "services": ("service clusterip made --tcp=80:80", PROTOBUF),
    "jobs": ("job made --image=busybox", PROTOBUF),
    "manifests": ("", "application/json"),
}


@pytest.mark.parametrize(
    "what",
    ["configmaps", *(pytest.param(each, marks=pytest.mark.nightly) for each in [*_CREATES][1:])],
)
async def test_create_of_what_is_there_already_is_of_the_object(
    run: Run, cr: Json, namespace: str, what: str
) -> None:
    """kubectl has no name in the path of a create, and sends and reads many kinds in protobuf."""
    words, media_type = _CREATES[what]
    for is_there in (False, True):
        if words:
            ended = await run.kubectl("create", *words.split(), "-n", namespace, "-v=8")
        else:
            ended = await run.kubectl(
                "create", "-f", "-", "-v=8", stdin=config_map(namespace, "made")
            )
        assert (ended.code != 0) is is_there, ended.stderr
        assert media_type in ended.stderr
    made, refused = [each for each in run.record.requests if each.verb == "create"]
    assert (made.code, made.name, made.is_owned, made.unread) == (201, "made", True, "")
    assert (refused.code, refused.name) == (409, "made")
    touched = touched_by(run.record)
    assert touched.unknown == ""
    (found,) = touched.objects.values()
    assert (found.uid, found.is_owned, found.is_wanted) == (made.uid, True, True)
    assert cr["metadata"]["uid"] != made.uid


async def test_protobuf_is_noted_as_not_read(run: Run, namespace: str) -> None:
    headers = {"Accept": PROTOBUF}
    async with run.request("GET", maps(namespace), headers=headers) as response:
        assert response.content_type == PROTOBUF
    assert the(run, verb="list").unread == f"its answer is `{PROTOBUF}`"
    assert objects_of(run.record).unknown


async def test_answer_beyond_a_megabyte_is_noted_as_not_read(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    for number in range(12):
        body = config_map(namespace, f"big-{number}", text="x" * 100_000)
        running_proxy.cluster.api.create(maps(namespace), body)
    async with run.request("GET", maps(namespace)) as response:
        assert len(await response.read()) > 1_000_000
    assert the(run, verb="list").unread == "its answer has more than 1024 KB"


async def test_play_that_asks_without_end_has_a_short_and_incomplete_record(
    run: Run, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "MOST_REQUESTS", MOST)
    async with aiohttp.ClientSession() as session:
        for start in range(0, MOST + 40, 50):
            await asyncio.gather(
                *(_read(session, run, namespace, start + each) for each in range(50))
            )
    record = run.record
    assert len(record.requests) == MOST
    assert record.incomplete == f"the run made more than {MOST:,} requests"


async def _read(session: aiohttp.ClientSession, run: Run, namespace: str, number: int) -> None:
    async with session.get(run.url.with_path(maps(namespace, f"none-{number}"))) as response:
        assert response.status == 404
