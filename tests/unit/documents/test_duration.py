from __future__ import annotations

import random

import pytest
import yaml

from rolecall.documents import DurationError, format_duration, parse_duration
from tests.unit.watches.cases import DATA

TABLE = yaml.safe_load((DATA / "durations.yaml").read_text())


@pytest.mark.parametrize(("text", "wanted"), TABLE["accepted"].items())
def test_duration_is_read_and_printed_as_go_does(text: str, wanted: tuple[int, str]) -> None:
    nanoseconds, printed = wanted

    seconds = parse_duration(text)

    assert seconds == nanoseconds / 1e9
    assert format_duration(seconds) == printed


@pytest.mark.parametrize(("text", "error"), TABLE["refused"].items())
def test_text_is_refused_in_gos_words(text: str, error: str) -> None:
    with pytest.raises(DurationError) as info:
        parse_duration(text)

    assert str(info.value) == error


def test_the_smallest_duration_is_one_further_from_zero_than_the_largest() -> None:
    assert parse_duration("-9223372036854775808ns") == -(2**63) / 1e9
    assert parse_duration("9223372036854775807ns") == (2**63 - 1) / 1e9


def test_what_is_printed_reads_back() -> None:
    numbers = random.Random(1)
    for _ in range(500):
        seconds = numbers.randrange(-(10**15), 10**15) / 1e9
        assert parse_duration(format_duration(seconds)) == seconds
