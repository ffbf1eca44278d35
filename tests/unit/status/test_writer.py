"""One write for each change, none without need, and none that a CRD would throw away for ever."""

from __future__ import annotations

import asyncio
import itertools
import logging

import pytest

from rolecall.kube import ConflictError, ForbiddenError, Resource, Target
from rolecall.status import (
    Ended,
    ObjectWriter,
    Paused,
    Started,
    StatusMissingError,
    StatusWriter,
    VanishedError,
    Verdict,
    find,
)
from rolecall.status.pruning import REMEMBER_S
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster, Intruder
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock

RESULT = {"ok": 1, "changed": 0, "skipped": 0, "failures": 0, "completion": ""}
SUCCESS = Ended(Verdict(succeeded=True, ansible_result=RESULT), 1)


class Setting:
    """A writer, what it writes to, and the time."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.clock = VirtualClock()
        self.shop = Shop(cluster, APP, "default")
        self.writer = StatusWriter(ObjectWriter(cluster, self.clock), self.clock)

    def writes(self) -> int:
        return self.cluster.calls.count("patch status")


async def test_change_that_changes_nothing_is_not_written() -> None:
    setting = Setting(FakeCluster())
    cr = await setting.shop.create()
    held = await setting.writer.write(APP, cr, Paused("paused"))

    again = await setting.writer.write(APP, held, Paused("paused"))

    assert again is held
    assert setting.writes() == 1


async def test_conflict_is_solved_from_what_is_there_now() -> None:
    setting = Setting(FakeCluster())
    stale = await setting.shop.create()
    theirs = {"status": {"phase": "up", "conditions": [{"type": "Healthy", "status": "True"}]}}
    await setting.shop.patch(theirs, subresource="status")

    written = await setting.writer.write(APP, stale, Started())

    assert written["status"]["phase"] == "up"
    types = [item["type"] for item in written["status"]["conditions"]]
    assert types == ["Healthy", "Ready", "Running"]


async def test_unrelated_write_of_another_client_costs_no_further_read() -> None:
    setting = Setting(FakeCluster())
    stale = await setting.shop.create()
    await setting.shop.patch({"status": {"phase": "up"}}, subresource="status")
    known = await setting.shop.get()
    await setting.shop.patch({"status": {"phase": "down"}}, subresource="status")
    setting.cluster.calls.clear()

    written = await setting.writer.write(APP, known, Started())

    assert setting.cluster.calls == ["patch status", "steps status"]
    assert written["status"]["phase"] == "down"
    assert find(written["status"]["conditions"], "Running") is not None
    # The first one to write any status at all is not overlooked either.
    assert (await setting.writer.write(APP, stale, Started()))["status"]["phase"] == "down"


async def test_where_each_version_counts_a_write_is_noted_with_the_version_before_it() -> None:
    """Else the event of our write would look like another client's, and enqueue the key."""
    cluster = FakeCluster()
    notes: list[tuple[str, str, str]] = []
    shop = Shop(cluster, APP, "default")
    await shop.create()
    del cluster.objects["default", "a"]["metadata"]["generation"]
    stale = await shop.patch({"status": {"phase": "up"}}, subresource="status")
    theirs = await shop.patch({"status": {"phase": "down"}}, subresource="status")
    clock = VirtualClock()
    objects = ObjectWriter(cluster, clock, lambda *note: notes.append(note))

    ours = await StatusWriter(objects, clock).write(APP, stale, Started())

    uid, before = theirs["metadata"]["uid"], theirs["metadata"]["resourceVersion"]
    assert notes == [(uid, ours["metadata"]["resourceVersion"], before)]


async def test_edit_that_came_in_between_is_never_written_over() -> None:
    setting = Setting(FakeCluster())
    known = await setting.writer.write(APP, await setting.shop.create(), Started())
    await setting.shop.patch({"spec": {"size": 2}})

    written = await setting.writer.write(APP, known, SUCCESS)

    ready = find(written["status"]["conditions"], "Ready")
    assert ready is not None
    assert ready["reason"] == "RunPending"


def refuses(*verbs: str) -> Intruder:
    """RBAC that allows other verbs."""

    async def refuse(verb: str, subresource: str) -> None:
        if verb in verbs:
            target = Target(verb, Resource(APP, "apps", namespaced=True), subresource=subresource)
            raise ForbiddenError("no", code=403, target=target)

    return refuse


async def test_where_only_update_is_allowed_the_object_is_sent_back_whole() -> None:
    setting = Setting(FakeCluster())
    known = await setting.shop.create()
    setting.cluster.intruder = refuses("patch")
    # What a play is shown has a spec even where the object has none.
    shown = {**known, "spec": {"size": 1, "shown": True}}

    written = await setting.writer.write(APP, shown, Started())

    assert find(written["status"]["conditions"], "Running") is not None
    assert (await setting.shop.get())["spec"] == {"size": 1}


async def test_sending_back_whole_loses_no_word_of_others() -> None:
    setting = Setting(FakeCluster())
    known = await setting.shop.create()
    await setting.shop.patch({"status": {"phase": "up"}}, subresource="status")
    setting.cluster.intruder = refuses("patch")

    written = await setting.writer.write(APP, known, Started())

    assert written["status"]["phase"] == "up"
    assert setting.cluster.calls.count("put status") == 2  # the first under the version of `known`


async def test_where_neither_is_allowed_the_rule_to_add_is_named() -> None:
    setting = Setting(FakeCluster())
    known = await setting.shop.create()
    setting.cluster.intruder = refuses("patch", "update")

    with pytest.raises(ForbiddenError) as caught:
        await setting.writer.write(APP, known, Started())

    assert caught.value.rule == (
        '{apiGroups: ["demo.example.com"], resources: [apps/status], verbs: [patch]}'
    )


async def test_times_are_whole_seconds_of_utc() -> None:
    setting = Setting(FakeCluster())
    written = await setting.writer.write(APP, await setting.shop.create(), Started())

    running = find(written["status"]["conditions"], "Running")
    assert running is not None
    assert running["lastTransitionTime"] == "2026-11-21T09:00:00Z"


async def test_object_that_is_gone_or_replaced_has_vanished() -> None:
    setting = Setting(FakeCluster())
    first = await setting.shop.create()
    await setting.shop.delete()
    with pytest.raises(VanishedError):
        await setting.writer.write(APP, first, Started())
    await setting.shop.create()

    with pytest.raises(VanishedError):
        await setting.writer.write(APP, first, Started())

    assert "status" not in await setting.shop.get()


async def test_kind_without_a_status_subresource_is_named_with_the_way_out() -> None:
    setting = Setting(FakeCluster(has_status=False))
    cr = await setting.shop.create()

    with pytest.raises(StatusMissingError) as caught:
        await setting.writer.write(APP, cr, Started())

    assert "kind `App` has no status subresource" in caught.value.message
    assert "manageStatus: false" in caught.value.hint


async def test_attempts_are_bounded_and_wait_longer_each_time() -> None:
    setting = Setting(FakeCluster())
    cr = await setting.shop.create()
    times: list[float] = []

    async def always(verb: str, subresource: str) -> None:
        times.append(setting.clock.monotonic())
        raise ConflictError("modified", target=Target("patch"))

    setting.cluster.intruder = always
    with pytest.raises(ConflictError):
        await with_time(setting, cr)

    # Each attempt is two tries: under the version, and under what it was computed from.
    assert times[::2] == times[1::2]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times[::2])]
    assert pauses == pytest.approx([0.0, 0.01, 0.02, 0.04, 0.08, 0.16, *[0.25] * 13])


async def with_time(setting: Setting, cr: dict[str, object]) -> None:
    writing = asyncio.ensure_future(setting.writer.write(APP, cr, Started()))
    await setting.clock.advance(5.0)
    await writing


async def test_schema_that_drops_conditions_is_reported_once_and_not_written_to_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = Setting(FakeCluster(prunes=frozenset({"conditions", "observedGeneration"})))
    cr = await setting.shop.create()
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            cr = await setting.writer.write(APP, cr, Started())
            cr = await setting.writer.write(APP, cr, SUCCESS)

    # Conditions are found out by the first write, the observed generation by the second.
    assert setting.writes() == 2
    assert "`status.conditions`" in caplog.records[0].__dict__["fields"]["dropped"]
    assert "x-kubernetes-preserve-unknown-fields" in caplog.records[0].getMessage()
    assert len(caplog.records) == 2


async def test_field_that_the_schema_drops_is_not_sent_again() -> None:
    setting = Setting(FakeCluster(prunes=frozenset({"conditions[].ansibleResult"})))
    cr = await setting.shop.create()
    cr = await setting.writer.write(APP, cr, Started())
    cr = await setting.writer.write(APP, cr, SUCCESS)
    writes = setting.writes()

    same = await setting.writer.write(APP, cr, SUCCESS)

    assert same is cr
    assert setting.writes() == writes
    assert find(cr["status"]["conditions"], "Successful") is not None


async def test_mended_schema_is_noticed_after_some_minutes() -> None:
    cluster = FakeCluster(prunes=frozenset({"conditions"}))
    setting = Setting(cluster)
    cr = await setting.writer.write(APP, await setting.shop.create(), Started())
    cluster._prunes = frozenset()
    assert "conditions" not in (await setting.writer.write(APP, cr, Started())).get("status", {})

    await setting.clock.advance(REMEMBER_S)
    mended = await setting.writer.write(APP, cr, Started())

    assert find(mended["status"]["conditions"], "Running") is not None
