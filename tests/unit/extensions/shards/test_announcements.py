"""What shards report of themselves: in a view, and in the log."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from rolecall.kube import ForbiddenError, Target
from tests.unit.extensions.shards.model.edits import with_spec
from tests.unit.extensions.shards.model.model_world import ELECTION, ID, LEASE_S, ModelWorld
from tests.unit.extensions.shards.worlds import begun, held, reported


def test_view_reports_holders_and_shards_without_one() -> None:
    async def story(world: ModelWorld) -> None:
        first, second = await begun(world, "a", "b")
        view = first.election.view()
        assert [(member.host, member.is_self) for member in view.members] == [
            ("a", True),
            ("b", False),
        ]
        division = {shard: member.host for member in view.members for shard in member.parts}
        assert division == world.division()
        assert (view.count, view.unheld, view.why_not) == (8, {}, "")
        assert all(member.runs_per_min == 1.5 and member.weight == 4 for member in view.members)
        second.is_dead = True
        await second.kill()
        await world.pass_time(LEASE_S - 3.0)
        assert first.election.view().unheld == {}
        world.store.delete(f"{ID}-shard-00")
        await world.pass_time(5.0)
        assert 2.0 < first.election.view().unheld[0] < 5.1

    reported(story)


@pytest.mark.parametrize(
    ("holder", "said", "hint"),
    [
        ("old-web-0_1234", "replica `old-web-0_1234` works without shards", "with `--shards`"),
        (
            "shards/32",
            "replicas here divide keys into 32 shards, this one into 8",
            "same `--shards`",
        ),
    ],
)
def test_who_works_in_another_way_is_named_once_with_a_way_out(
    holder: str, said: str, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(world: ModelWorld) -> None:
        spec = {"holderIdentity": holder, "leaseDurationSeconds": 15}
        world.store.create({"metadata": {"name": ID, "namespace": "ns"}, "spec": spec})
        only = world.start("a")
        for _ in range(10):
            await world.pass_time(5.0)
            world.store.edit(ID, with_spec(renewTime=str(world.now)))
        assert not held(only, world)
        assert said in only.election.view().why_not

    reported(story)
    warnings = [record for record in caplog.records if said in record.getMessage()]
    assert len(warnings) == 1
    assert hint in str(warnings[0].__dict__["fields"])


def test_missing_right_is_named_once_with_a_way_out(caplog: pytest.LogCaptureFixture) -> None:
    async def story(world: ModelWorld) -> None:
        only = world.start("a")

        def refuse(*_: object, **__: object) -> None:
            target = Target("list", path="leases")
            raise ForbiddenError("not allowed to list leases", target=target, hint="add a rule")

        world.store.labelled = refuse  # type: ignore[assignment]
        await world.pass_time(60.0)
        assert not held(only, world)
        assert only.election.view().why_not == "not allowed to list leases"

    with caplog.at_level(logging.ERROR), pytest.raises(AssertionError, match="not allowed"):
        reported(story)  # an error that is logged counts as one
    errors = [record.__dict__["fields"] for record in caplog.records if record.levelno >= 40]
    assert {(error["error"], error["hint"]) for error in errors} == {
        ("not allowed to list leases", "add a rule")
    }
    assert sorted(error["consequence"] for error in errors) == [
        "changes of shards are seen some seconds later",
        "this replica takes no shard",
    ]


def test_longer_leases_of_other_replicas_are_waited_for() -> None:
    async def story(world: ModelWorld) -> None:
        longer = replace(
            world.settings,
            election=replace(ELECTION, lease_s=40.0, renew_deadline_s=30.0),
        )
        patient = world.start("a", settings=longer)
        await world.settle(60.0)
        world.start("b")
        await world.pass_time(5.0)
        patient.pause()
        await world.pass_time(35.0)
        assert {"a"} == {world.holder_of(shard) for shard in held(patient, world)} | {"a"}
        await world.pass_time(20.0)
        assert set(world.division().values()) == {"b"}

    reported(story)
