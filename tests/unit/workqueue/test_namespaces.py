"""Namespaces take turns within an urgency: none waits for all that another one has."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest

from rolecall.gvk import Gvk
from rolecall.workqueue import Key, Urgency
from rolecall.workqueue.cause import UNREPORTED
from rolecall.workqueue.lanes import MAX_JUMPS, Lanes
from tests.unit.workqueue.keys import APP, VOLUME

AGEING_S = 60.0


def any_kind(_: Gvk) -> bool:
    return True


def put(lanes: Lanes, namespace: str, name: str, urgency: Urgency, gvk: Gvk = APP) -> None:
    lanes.put(Key(gvk, namespace, name), urgency, UNREPORTED, 0.0)


def taken_until(lanes: Lanes, namespace: str) -> int:
    """How many runs of others come before the first of this namespace."""
    count = 0
    while (turn := lanes.take(any_kind, 0.0)) is not None and turn.key.namespace != namespace:
        count += 1
    assert turn is not None
    return count


@pytest.mark.parametrize("served", [0, 1, 30, 59])
@pytest.mark.parametrize("kind", [APP, VOLUME])
@pytest.mark.parametrize("urgency", list(Urgency))
def test_key_of_another_namespace_waits_for_at_most_two_of_sixty(
    urgency: Urgency, kind: Gvk, served: int
) -> None:
    lanes = Lanes(AGEING_S)
    for number in range(60):
        put(lanes, "noisy", f"n{number}", urgency)
    for _ in range(served):
        lanes.take(any_kind, 0.0)
    put(lanes, "quiet", "q", urgency, kind)
    assert taken_until(lanes, "quiet") <= 2


def test_namespace_that_edits_again_and_again_passes_none() -> None:
    lanes = Lanes(AGEING_S)
    for name in range(3):
        put(lanes, "quiet", f"q{name}", Urgency.EDIT)
    order = []
    for number in range(30):
        put(lanes, "noisy", f"n{number}", Urgency.EDIT)
        if (turn := lanes.take(any_kind, 0.0)) is not None:
            order.append(turn.key.namespace)
    assert order.index("quiet") <= 1
    assert order[:7].count("quiet") == 3


def test_stream_of_new_namespaces_keeps_no_key_waiting() -> None:
    lanes = Lanes(AGEING_S)
    for number in range(5):
        put(lanes, "old", f"o{number}", Urgency.EDIT)
    order = []
    for number in range(40):
        put(lanes, f"new-{number}", "n", Urgency.EDIT)
        put(lanes, f"new-{number}", "m", Urgency.EDIT)
        if (turn := lanes.take(any_kind, 0.0)) is not None:
            order.append(turn.key.name)
    assert order[0] == "o0"
    assert "o1" in order


@pytest.mark.parametrize("seed", range(20))
def test_no_namespace_gets_more_turns_than_another_that_waits(seed: int) -> None:
    chance, lanes = random.Random(seed), Lanes(AGEING_S)
    names = ["a", "b", "c", "d"]
    for number in range(200):
        name = chance.choices(names, [20, 3, 2, 1])[0]
        put(lanes, name, f"x{number}", Urgency.EDIT, chance.choice([APP, VOLUME]))
    waiting = Counter(each.key.namespace for each in lanes.all())
    served: Counter[str] = Counter()
    while (turn := lanes.take(any_kind, 0.0)) is not None:
        served[turn.key.namespace] += 1
        unserved = [served[name] for name in names if served[name] < waiting[name]]
        if unserved:
            assert max(served.values()) <= min(unserved) + 1
            assert max(unserved) - min(unserved) <= 1
    assert served == waiting


def test_old_key_of_less_urgency_still_has_its_turn() -> None:
    lanes = Lanes(AGEING_S)
    put(lanes, "old", "o", Urgency.STARTUP)
    for number in range(20):
        lanes.put(Key(APP, f"ns-{number}", "e"), Urgency.EDIT, UNREPORTED, AGEING_S)
    taken = [turn.key.name for _ in range(20) if (turn := lanes.take(any_kind, AGEING_S))]
    assert taken.index("o") == MAX_JUMPS


def test_nothing_is_kept_of_a_namespace_without_keys() -> None:
    lanes = Lanes(AGEING_S)
    for number in range(50):
        put(lanes, f"ns-{number}", "x", Urgency.PERIOD)
        put(lanes, f"ns-{number}", "x", Urgency.EDIT)
    lanes.drop(lambda key: key.namespace.endswith("1"))
    while lanes.take(any_kind, 0.0) is not None:
        pass
    for rounds in lanes._rounds.values():
        assert not rounds.last
        assert not rounds.waiting


@pytest.mark.slow
def test_cost_of_a_turn_does_not_grow_with_keys() -> None:
    def seconds_each(size: int) -> float:
        lanes = Lanes(AGEING_S)
        for number in range(size):
            put(lanes, f"ns-{number % 50}", f"x{number}", Urgency.STARTUP)
        began = time.process_time()
        for _ in range(1000):
            lanes.take(any_kind, 0.0)
        return (time.process_time() - began) / 1000

    small = min(seconds_each(2_000) for _ in range(3))
    assert min(seconds_each(64_000) for _ in range(3)) < 6 * small
