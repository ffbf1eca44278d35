"""Replicas that watch other CRs than those at work stand by, and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from rolecall.extensions.shards import ShardHolder, slot
from rolecall.extensions.shards.watched import digest_of_watched
from rolecall.gvk import Gvk
from rolecall.settings import ReactorSettings
from rolecall.watches import Play, Selector, Watch
from tests.unit.extensions.shards.model.model_world import LEASE_S, ModelWorld
from tests.unit.extensions.shards.test_extension import DIVIDED, view
from tests.unit.extensions.shards.worlds import begun, held, passed_until, reported

APP = Watch(Gvk("demo.example.com", "v1", "App"), Play(Path("app"), is_role=True))
OTHER = replace(APP, gvk=Gvk("demo.example.com", "v1", "Other"))


def test_replica_that_watches_others_stands_by_and_follows_when_those_are_gone() -> None:
    async def story(world: ModelWorld) -> None:
        first, second = await begun(world, "a", "b")
        third = world.start("c", election=partial(ShardHolder, watched="others"))
        await world.pass_time(3 * LEASE_S)
        assert held(third, world) == set()
        assert "watch other CRs than this one" in third.election.view().why_not
        assert held(first, world) | held(second, world) == set(world.keys)
        await first.leave()
        await second.leave()
        await passed_until(world, lambda: held(third, world) == set(world.keys), 4 * LEASE_S)
        assert third.election.view().why_not == ""

    reported(story)


def test_replicas_that_watch_the_same_divide_it() -> None:
    async def story(world: ModelWorld) -> None:
        election = partial(ShardHolder, watched="same")
        one, two = world.start("a", election=election), world.start("b", election=election)
        await passed_until(world, lambda: bool(held(one, world) and held(two, world)))

    reported(story)


@pytest.mark.parametrize(
    ("watches", "namespaces"),
    [
        ([APP, OTHER], ()),
        ([OTHER], ()),
        ([replace(APP, selector=Selector({"tier": "gold"}))], ()),
        ([APP], ("shop",)),
    ],
)
def test_digest_reports_which_crs_are_watched(watches: list[Watch], namespaces: tuple[str]) -> None:
    assert digest_of_watched(watches, namespaces) != digest_of_watched([APP], ())


@pytest.mark.parametrize("watches", [[APP], [OTHER], [APP, OTHER]])
@pytest.mark.parametrize("namespaces", [(), ("shop", "bank")])
def test_engine_divides_crs_with_those_that_watch_what_it_watches(
    monkeypatch: pytest.MonkeyPatch, watches: Sequence[Watch], namespaces: tuple[str, ...]
) -> None:
    digests = []

    def holder(*_: object, watched: str = "", **_more: object) -> object:
        digests.append(watched)
        return SimpleNamespace(view=None)

    monkeypatch.setattr(slot, "ShardHolder", holder)
    settings = replace(DIVIDED, reactor=ReactorSettings(namespaces=namespaces))
    slot.ShardsElection(replace(view(settings), watches=watches))
    assert digests == [digest_of_watched(watches, namespaces)]


@pytest.mark.parametrize(
    "changed",
    [
        replace(APP, gvk=Gvk("demo.example.com", "v2", "App")),
        replace(APP, vars={"x": 1}, line=7, play=Play(Path("new"), is_role=True)),
    ],
)
def test_digest_is_the_same_over_an_upgrade_that_watches_the_same(changed: Watch) -> None:
    assert digest_of_watched([changed], ("b", "a")) == digest_of_watched([APP], ("a", "b"))
