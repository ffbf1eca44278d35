"""Trends stay small and fast, however many CRs, namespaces and failures there are."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc

import pytest
from tests.unit.extensions.console.control.engine import SITE
from tests.unit.extensions.console.page.trends.ended import (
    NOON,
    Watched,
    ended,
    record,
    site,
)

from rolecall.extensions.console.page.trends import Trends, TrendSpan, trends
from rolecall.extensions.console.page.trends.packed import CODES, duration_code, wait_code


def _fill(filled: Trends, namespaces: int, lengths: int) -> None:
    """As if each namespace had had runs of so many lengths in each interval."""
    dice = random.Random(1)
    owners = [filled._places.of((SITE, f"ns{each}")) or 0 for each in range(namespaces)]
    for series, now, count in (
        (filled._hour, filled._minute, 60),
        (filled._day, filled._minute // 15, 96),
    ):
        for number in range(now - count + 1, now):
            counts = {
                owner * CODES + duration_code(dice.lognormvariate(1.5, 0.6)): dice.randrange(1, 9)
                for owner in owners
                for _ in range(lengths)
            }
            waits = {owner * CODES + (wait_code(dice.uniform(1, 9)) or 0): 1 for owner in owners}
            series.merge(number, counts | waits)


def test_storm_of_ten_thousand_crs_in_a_hundred_namespaces_takes_four_megabytes() -> None:
    watched = Watched()
    tasks = [record(*((f"task {number}", 0.1) for number in range(20))), *[None] * 6]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    _fill(watched.trends, namespaces=100, lengths=10)
    for minute in range(60):
        crs = range(minute * 170, (minute + 1) * 170)
        watched.ends(
            *(
                ended(site(f"site-{cr}", f"ns{cr % 100}"), "failed", cr % 31, record=tasks[cr % 7])
                for cr in crs
            )
        )
        watched.minutes_pass(1)
    places = [(SITE, f"ns{each}") for each in range(100)]
    failing = watched.seen(places=places).all[-1].failing
    watched.seen(TrendSpan.DAY, places=places)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert failing == 10_200
    assert used < 4_000_000


def test_a_thousand_places_are_seen_within_twenty_milliseconds() -> None:
    watched = Watched()
    _fill(watched.trends, namespaces=1000, lengths=2)
    places = [(SITE, f"ns{each}") for each in range(1000)]
    watched.ends(*(ended(site("a", namespace)) for _, namespace in places))
    watched.seen(TrendSpan.DAY, places)
    watched.ends(ended(site("a", "ns1")))
    took = []
    for _ in range(5):
        watched.ends(ended(site("a", "ns1")))
        began = time.thread_time()
        watched.seen(TrendSpan.DAY, places)
        took.append(time.thread_time() - began)
    assert min(took) < 0.02


def test_oldest_intervals_go_first_and_since_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trends, "_MOST_OF_HOUR", 500)
    watched = Watched()
    for _ in range(30):
        watched.ends(*(ended(site("a", f"ns{each}")) for each in range(50)))
        watched.minutes_pass(1)
    seen = watched.seen(places=[(SITE, f"ns{each}") for each in range(50)])
    kept = [each.runs for each in seen.all if each.runs]
    assert kept == [50] * 10
    assert (seen.since - NOON).total_seconds() == 20 * 60
    assert watched.seen(TrendSpan.DAY).since == NOON


def test_places_of_which_nothing_is_kept_are_forgotten_and_their_numbers_used_again() -> None:
    watched = Watched()
    for batch in range(5):
        watched.ends(*(ended(site("a", f"ns{batch}-{each}")) for each in range(200)))
        watched.minutes_pass(24 * 60 + 30)
    watched.ends(ended(site("a"), seconds=9.0))
    watched.minutes_pass(30)
    assert watched.trends.places() == {(SITE, "shop")}
    assert len(watched.trends._places.kind_of) == 200
    assert sum(watched.runs(TrendSpan.DAY)) == 1
    assert sum(each.runs for each in watched.seen(TrendSpan.DAY, [(SITE, "ns4-3")]).all) == 0


def test_engine_that_slept_for_days_shows_nothing_of_before() -> None:
    watched = Watched()
    watched.ends(ended(site("a")), ended(site("b"), "failed"))
    watched.minutes_pass(60 * 24 * 30)
    assert watched.runs(TrendSpan.DAY) == [0] * 96
    assert set(watched.failing(TrendSpan.DAY)) == {1}


def test_answers_are_kept_for_few_kinds_of_readers() -> None:
    watched = Watched()
    watched.ends(*(ended(site("a", f"ns{each}")) for each in range(100)))
    for each in range(100):
        watched.seen(places=[(SITE, f"ns{each}")])
    assert len(watched.trends._answers) == 16
