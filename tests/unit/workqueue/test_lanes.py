"""Which key is next, at the very moments where one rule ends and the next begins."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.workqueue import Key, Urgency
from rolecall.workqueue.backoff import Backoff
from rolecall.workqueue.cause import UNREPORTED, Cause
from rolecall.workqueue.lanes import MAX_JUMPS, Lanes, Waiting
from rolecall.workqueue.run_slots import MAX_WOKEN, Limits, RunSlots
from tests.unit.workqueue.keys import APP, VOLUME, key

AGEING_S = 60.0
OLD = key("old")


def has_room(_: Gvk) -> bool:
    return True


def with_an_old_key(since: float) -> Lanes:
    lanes = Lanes(AGEING_S)
    lanes.put(OLD, Urgency.STARTUP, UNREPORTED, since)
    return lanes


def edits_before_the_old_key(lanes: Lanes, now: float, most: int = 20) -> int:
    """How many more urgent keys pass before the old one has its turn."""
    for number in range(most):
        lanes.put(key(f"edit-{number}"), Urgency.EDIT, UNREPORTED, now)
    taken = (lanes.take(has_room, now) for _ in range(most))
    return [each.key for each in taken if each is not None].index(OLD)


@pytest.mark.parametrize("since", [0.0, 1000.0])
def test_key_that_waited_its_time_is_passed_three_times_and_no_more(since: float) -> None:
    assert edits_before_the_old_key(with_an_old_key(since), since + AGEING_S) == MAX_JUMPS


def test_key_that_waited_a_moment_less_is_passed_by_all() -> None:
    lanes = with_an_old_key(1000.0)

    with pytest.raises(ValueError, match="not in list"):
        edits_before_the_old_key(lanes, 1000.0 + AGEING_S - 0.1)


def test_each_old_key_is_passed_as_often_as_the_first_one() -> None:
    lanes = Lanes(AGEING_S)
    for name in ("old-1", "old-2"):
        lanes.put(key(name), Urgency.STARTUP, UNREPORTED, 0.0)
    for number in range(20):
        lanes.put(key(f"edit-{number}"), Urgency.EDIT, UNREPORTED, AGEING_S)

    taken = [turn.key.name for _ in range(10) if (turn := lanes.take(has_room, AGEING_S))]

    old = [place for place, name in enumerate(taken) if name.startswith("old")]
    assert old == [MAX_JUMPS, 2 * MAX_JUMPS + 1]


def test_passing_is_counted_anew_once_nothing_is_overdue() -> None:
    lanes = with_an_old_key(0.0)
    for number in range(MAX_JUMPS):
        lanes.put(key(f"early-{number}"), Urgency.EDIT, UNREPORTED, AGEING_S)
        lanes.take(has_room, AGEING_S)
    lanes.put(OLD, Urgency.EDIT, UNREPORTED, AGEING_S)
    lanes.take(has_room, AGEING_S)
    lanes.put(OLD, Urgency.STARTUP, UNREPORTED, AGEING_S)

    assert edits_before_the_old_key(lanes, 2 * AGEING_S) == MAX_JUMPS


def test_key_that_does_not_fit_yet_is_not_passed_for_that() -> None:
    lanes = with_an_old_key(0.0)
    lanes.put(key("edit"), Urgency.EDIT, UNREPORTED, AGEING_S)
    for _ in range(MAX_JUMPS):
        assert lanes.take(has_room, AGEING_S, fits=lambda _: False) is None

    assert taken(lanes).key == key("edit")


def taken(lanes: Lanes) -> Waiting:
    waiting = lanes.take(has_room, AGEING_S)
    assert waiting is not None
    return waiting


def test_longest_wait_of_an_urgency_is_reported_over_all_kinds() -> None:
    lanes = Lanes(AGEING_S)
    lanes.put(key("a", APP), Urgency.EDIT, UNREPORTED, 7.0)
    lanes.put(key("b", VOLUME), Urgency.EDIT, UNREPORTED, 3.0)
    lanes.put(key("c", VOLUME), Urgency.EDIT, UNREPORTED, 9.0)

    assert lanes.oldest() == {Urgency.EDIT: 3.0}


def test_first_failure_waits_as_long_as_the_settings_say_and_no_longer() -> None:
    backoff = Backoff(start_s=0.25, cap_s=100.0)

    assert [backoff.fail(OLD) for _ in range(3)] == [0.25, 0.5, 1.0]
    assert backoff.fail(key("other"), at_least_s=3.0) == 3.0


def test_cause_is_printed_in_its_own_words() -> None:
    assert [str(Cause("edit of generation 4")), f"{Cause.retry(3)}"] == [
        "edit of generation 4",
        "retry 3",
    ]


def test_key_is_reported_with_its_namespace_where_it_has_one() -> None:
    assert [str(key("web")), str(Key(APP, "", "web"))] == ["App default/web", "App web"]


def test_kind_without_a_limit_has_one_key_in_hand() -> None:
    slots = RunSlots(Limits(max_runs=5, per_kind={}))
    assert slots.has_room(APP)

    slots.take(OLD)

    assert not slots.has_room(APP)


def test_runs_that_wake_go_first_three_times_in_a_row_and_then_a_key_begins() -> None:
    slots = RunSlots(Limits(max_runs=1, per_kind={APP: 50}, max_waiting=50))
    keys: list[Key] = [key(str(number)) for number in range(2 * MAX_WOKEN)]
    for each in keys:
        slots.take(each)
        slots.leave(each)
    for each in keys:
        slots.want(each, lambda: None)

    given = 0
    while slots.woken_go_first and slots.give_to_woken():
        given += 1
    assert given == MAX_WOKEN

    slots.take(key("begins"))
    assert slots.woken_go_first


def test_namespaces_take_turns_also_after_most_keys_of_a_lane_moved_up() -> None:
    """Then the lane lists those that are left anew, in order of arrival."""
    lanes = Lanes(AGEING_S)
    many = [Key(APP, "a", str(number)) for number in range(40)]
    one = Key(APP, "b", "only")
    for each in (*many[:35], one, *many[35:]):
        lanes.put(each, Urgency.PERIOD, UNREPORTED, 0.0)
    for each in many[:30]:
        lanes.put(each, Urgency.EDIT, UNREPORTED, 0.0)

    taken = [lanes.take(has_room, 0.0) for _ in range(31)]

    assert [each.key for each in taken if each is not None] == [*many[:30], one]
