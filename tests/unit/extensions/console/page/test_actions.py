"""What a reader may have done is done as himself, and for what this operator works on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import NOON, Known, key
from tests.unit.extensions.console.page.cluster import FakeClient
from tests.unit.extensions.console.page.serving import ALL, Answer, Shown, place, shown

from rolecall.errors import ClusterError
from rolecall.reconcile import Progress


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL, ("patch", "websites", "shop"))
        page.cluster.knows("looker", *ALL)
        page.has("a")
        yield page


async def does(
    page: Shown, action: str, name: str = "a", user: str = "anna", **form: str
) -> Answer:
    token = f"token-of-{user}"
    reported = {"form_token": await page.form_token(token=token), **form}
    return await page.asks(f"{place(name)}/{action}", reported, token=token)


async def test_run_is_asked_of_the_queue_and_leads_back(page: Shown) -> None:
    answer = await does(page, "reconcile")
    assert (answer.code, answer.headers["Location"]) == (303, place("a"))
    assert page.world.asked == [(str(key("a")), "asked for by a person")]


async def test_pause_says_who_and_why_and_is_sent_as_the_reader(page: Shown) -> None:
    assert (await does(page, "pause", because="x" * 600)).code == 303
    ((where, patch),) = page.cluster.patches
    assert where == "shop/a"
    reported = patch["metadata"]["annotations"]
    assert reported["rolecall.dev/paused"] == "true"
    assert reported["rolecall.dev/paused-by"] == "anna"
    assert reported["rolecall.dev/paused-because"] == "x" * 500
    assert (await does(page, "resume")).code == 303
    assert set(page.cluster.patches[1][1]["metadata"]["annotations"].values()) == {None}


@pytest.mark.parametrize("action", ["reconcile", "stop", "pause", "resume"])
async def test_who_may_not_patch_changes_nothing_and_sees_no_button(
    page: Shown, action: str
) -> None:
    refused = await does(page, action, user="looker")
    assert refused.code == 403
    assert (page.cluster.patches, page.world.asked) == ([], [])
    assert (
        f"{place('a')}/{action}" not in (await page.asks(place("a"), token="token-of-looker")).text
    )


async def test_run_in_flight_is_stopped_for_the_reader_and_no_later_one(page: Shown) -> None:
    page.world.in_flight = {key("a"): Progress.at_start("4711", "edit", NOON)}
    shown_page = (await page.asks(place("a"), token="token-of-anna")).text
    assert f"{place('a')}/stop?run=4711" in shown_page
    assert (await does(page, "stop", run="4710")).code == 409
    assert page.world.asked == []
    answer = await does(page, "stop", run="4711")
    assert (answer.code, answer.headers["Location"]) == (303, place("a"))
    assert page.world.asked == [(str(key("a")), "stop for anna")]


async def test_without_a_run_there_is_no_button_to_stop_it(page: Shown) -> None:
    assert f"{place('a')}/stop" not in (await page.asks(place("a"), token="token-of-anna")).text
    assert (await does(page, "stop", run="4711")).code == 409


async def test_object_without_an_owner_is_not_enqueued(page: Shown) -> None:
    """Else any name would make work for the operator, also of what its selector leaves out."""
    page.world.known[key("left-out")] = Known(is_selected=False)
    for name in ("absent", "left-out"):
        assert (await does(page, "reconcile", name)).code == 404
    assert page.world.asked == []


async def test_replica_that_does_not_lead_says_who_does(page: Shown) -> None:
    page.world.leads = False
    answer = await does(page, "reconcile")
    assert answer.code == 409 and "the-other-pod" in answer.text
    assert page.world.asked == []


async def test_refusal_of_the_cluster_is_reported_in_its_words(
    page: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> None:
        raise ClusterError("the admission webhook said no")

    monkeypatch.setattr(FakeClient, "merge_patch", refused)
    answer = await does(page, "pause")
    assert answer.code == 502 and "the admission webhook said no" in answer.text


async def test_right_that_was_taken_away_is_gone_after_half_a_minute(page: Shown) -> None:
    assert (await does(page, "reconcile")).code == 303
    page.cluster.rules["anna"].discard(("patch", "websites", "shop"))
    page.clock.step(30)
    assert (await does(page, "reconcile")).code == 403
