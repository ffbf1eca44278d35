"""What becomes of objects that were there before the role wrote them, and that have no owner."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.proxy import Owner, adoption
from tests.unit.proxy.crs import UID, app, owner
from tests.unit.proxy.stored import MARKS, MERGE, REFERENCE, Stored, stored
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

OWN = "/api/v1/namespaces/prod/configmaps/made"
OTHER = "/api/v1/namespaces/other/configmaps/made"
NODE = "/api/v1/nodes/made"
REFUSED = {"kind": "Status", "code": 403}

OpenRun = Callable[..., AbstractAsyncContextManager[Play]]


@pytest.fixture
def opened(tmp_path: Path) -> OpenRun:
    """`async with opened(there, adopts=True) as play:` is a run before an API server with an object."""

    @asynccontextmanager
    async def run(
        there: Stored,
        cr: Json | None = None,
        was_owned: Callable[[Owner, str], Awaitable[bool]] = adoption.never_owned,
        **settings: Any,
    ) -> AsyncIterator[Play]:
        async with opened_play(tmp_path, was_owned=was_owned, **settings) as bare:
            bare.upstream.say = there.say
            async with play_of(bare.proxy, bare.upstream, bare.reported, cr=cr) as play:
                yield play

    return run


async def write(
    play: Play,
    target: str = OWN,
    method: str = "PATCH",
    body: object = None,
    **headers: str,
) -> Json:
    """What the play gets as answer."""
    data = json.dumps({"data": {"a": "b"}} if body is None else body).encode()
    kind = MERGE if method == "PATCH" else "application/json"
    async with play.request(
        method, target, data=data, headers={"Content-Type": kind, **headers}
    ) as response:
        reported: Json = json.loads(await response.read())
    return reported


def merges(play: Play) -> list[Received]:
    """The requests of the proxy's own, which say of which version they are."""
    return [one for one in play.upstream.received if b'"resourceVersion"' in one.body]


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
async def test_object_with_the_mark_of_this_cr_gets_its_reference(
    opened: OpenRun, method: str
) -> None:
    there = stored(annotations=MARKS)
    async with opened(there) as play:
        reported = await write(
            play, method=method, **{"Impersonate-User": "jane", "Accept": "application/json;x=y"}
        )
        [merge] = merges(play)
    assert json.loads(merge.body) == {
        "metadata": {"uid": "u-1", "resourceVersion": "8", "ownerReferences": [REFERENCE]}
    }
    assert (merge.method, merge.target, merge.headers["content-type"]) == ("PATCH", OWN, MERGE)
    assert merge.headers["accept"] == "application/json;x=y"
    assert merge.headers["impersonate-user"] == "jane"
    assert reported == there.document
    assert reported["metadata"]["resourceVersion"] == "9"
    assert reported["metadata"]["ownerReferences"] == [REFERENCE]
    assert play.reported.dependents == [("ConfigMap", False, "prod")]
    assert play.reported.own_writes == [("u-1", "8"), ("u-1", "9")]
    assert play.reported.events == []


@pytest.mark.parametrize(
    ("target", "dependents"), [(OTHER, [("ConfigMap", True, "other")]), (NODE, [])]
)
async def test_object_out_of_reach_of_references_is_adopted_by_annotations(
    opened: OpenRun, target: str, dependents: list[object]
) -> None:
    there = stored(annotations={"x": "y"})
    async with opened(there, adopts=True) as play:
        reported = await write(play, f"{target}?fieldManager=me")
        assert [one.target for one in merges(play)] == [target], "the play's query is its own"
    assert reported["metadata"]["annotations"] == {"x": "y", **MARKS}
    assert "ownerReferences" not in reported["metadata"]
    assert play.reported.dependents == dependents
    assert play.reported.events == []


async def test_annotations_that_are_the_tie_are_all_that_is_wanted(opened: OpenRun) -> None:
    async with opened(stored(annotations=MARKS), adopts=True) as play:
        reported = await write(play, OTHER)
        assert reported["metadata"]["resourceVersion"] == "8"
        assert merges(play) == []
    assert play.reported.events == []


@pytest.mark.parametrize(
    ("target", "name"),
    [(OWN, "ConfigMap made"), (OTHER, "ConfigMap other/made"), (NODE, "Node made")],
)
async def test_object_without_an_owner_is_named_on_the_cr_once(
    opened: OpenRun, target: str, name: str
) -> None:
    async with opened(stored()) as play:
        assert (await write(play, target))["data"] == {"a": "b"}
        await write(play, target)
        assert play.reported.events == []
        async with play_of(play.proxy, play.upstream, play.reported) as next_run:
            await write(next_run, target)
    assert play.reported.events == [
        (
            "shop",
            "Warning",
            "NotOwned",
            f"The role writes objects that have no owner: {name}. They stay when this object is"
            " deleted, and their changes start no run. `--adopt` makes it their owner",
        )
    ]
    assert merges(play) == []
    assert play.reported.dependents == []


@pytest.mark.parametrize(("count", "end"), [(5, "m4. They"), (6, "m4 and 1 more. They")])
async def test_event_names_five_objects_and_counts_the_others(
    opened: OpenRun, count: int, end: str
) -> None:
    there = stored()
    async with opened(there) as play:
        for number in range(count):
            there.document = stored(f"u-{number}").document
            await write(play, OWN.replace("made", f"m{number}"))
    [(_, _, _, message)] = play.reported.events
    assert "no owner: ConfigMap m0, ConfigMap m1, ConfigMap m2, " in message
    assert end in message


async def test_reports_are_forgotten_when_there_are_too_many(
    opened: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "_REMEMBERED", 2)
    there = stored()
    async with opened(there) as play:
        for uids in ("ab", "ab", "c", "a"):
            async with play_of(play.proxy, play.upstream, play.reported) as run:
                for uid in uids:
                    there.document = stored(uid).document
                    await write(run)
    assert len(play.reported.events) == 3, "of a and b; of c; of a again"


STRANGERS = {**MARKS, "operator-sdk/primary-resource": "prod/other"}
LEFT_ALONE: dict[str, tuple[Stored, dict[str, Any]]] = {
    "owned by another": (stored(ownerReferences=[{**REFERENCE, "uid": "x"}]), {}),
    "marked by another": (stored(annotations=STRANGERS), {}),
    "of half a mark": (stored(annotations=dict([*MARKS.items()][:1])), {}),
    "about to go": (stored(deletionTimestamp="2026-11-26T00:00:00Z"), {}),
    "the CR itself": (stored(UID), {}),
    "without a UID": (stored(""), {}),
    "given up by the play": (stored(), {"body": {"metadata": {"ownerReferences": []}}}),
    "its status": (stored(), {"target": f"{OWN}/status"}),
    "a dry run": (stored(), {"target": f"{OWN}?dryRun=All"}),
    "a delete": (stored(), {"method": "DELETE"}),
    "a kind that cannot be watched": (stored(), {"target": OWN.replace("configmaps", "bindings")}),
    "a kind that is not there": (stored(), {"target": OWN.replace("configmaps", "others")}),
    "refused": (Stored({}, {"PATCH": (403, stored().document)}), {}),
}


@pytest.mark.parametrize(("there", "asked"), LEFT_ALONE.values(), ids=LEFT_ALONE)
@pytest.mark.parametrize("adopts", [False, True])
async def test_object_is_left_alone(
    opened: OpenRun, there: Stored, asked: dict[str, Any], adopts: bool
) -> None:
    async with opened(there, adopts=adopts) as play:
        await write(play, **asked)
        assert merges(play) == []
    assert play.reported.events == []
    assert play.reported.dependents == []


async def test_create_is_no_adoption(opened: OpenRun) -> None:
    """Its answer has its owner, but for an API server that dropped it."""
    async with opened(Stored(None), adopts=True) as play:
        await write(play, OWN.removesuffix("/made"), "POST")
        assert merges(play) == []
    assert play.reported.events == []
    assert play.reported.dependents == [("ConfigMap", False, "prod")]


async def test_run_for_a_cr_that_is_being_deleted_adopts_nothing(opened: OpenRun) -> None:
    ending = app()
    ending["metadata"]["deletionTimestamp"] = "2026-11-26T00:00:00Z"
    async with opened(stored(), cr=ending, adopts=True) as play:
        await write(play)
        assert merges(play) == []
    assert play.reported.events == []


async def test_without_injection_nothing_is_adopted(opened: OpenRun) -> None:
    async with opened(stored(), adopts=True, inject_owner=False) as play:
        assert (await write(play))["metadata"]["resourceVersion"] == "8"
        assert merges(play) == []
    assert play.reported.events == []


async def cut(request: Received) -> None:
    request.writer.transport.abort()


@pytest.mark.parametrize(
    "refuse",
    [
        lambda request: answer(request, 403, REFUSED),
        lambda request: answer(request, 409, REFUSED),
        lambda request: answer(request, 201, stored().document),
        lambda request: answer(request, 200, b"<html>", **{"Content-Type": "text/html"}),
        cut,
    ],
    ids=["403", "409", "201", "a page", "cut"],
)
async def test_failed_adoption_is_reported_and_the_write_succeeds(
    opened: OpenRun, refuse: Callable[[Received], Awaitable[None]]
) -> None:
    there = stored()

    async def say(request: Received) -> None:
        await (refuse(request) if b'"resourceVersion"' in request.body else there.say(request))

    async with opened(there, adopts=True) as play:
        play.upstream.say = say
        reported = await write(play)
    assert reported == there.document
    assert play.reported.dependents == []
    assert play.reported.own_writes == [("u-1", "8")]
    [(_, _, _, message)] = play.reported.events
    assert message.endswith(
        "The API server refused to give them one; that needs the verb `patch` on their kinds"
    )


async def test_object_that_gets_its_old_owner_back_is_not_reported(opened: OpenRun) -> None:
    asked: list[object] = []

    async def was_owned(by: Owner, uid: str) -> bool:
        asked.append((by, uid))
        return True

    async with opened(stored(), was_owned=was_owned) as play:
        await write(play)
    assert asked == [(owner(), "u-1")]
    assert play.reported.events == []


async def test_write_is_good_where_the_kind_cannot_be_looked_up(opened: OpenRun) -> None:
    target = "/apis/shop.example.com/v1/namespaces/prod/orders/made"
    there = stored(annotations=MARKS)
    there.refusing["GET"] = (403, REFUSED)
    async with opened(there) as play:
        assert await write(play, target) == there.document
        assert "GET /apis/shop.example.com/v1" in play.upstream.asked
        assert merges(play) == []
