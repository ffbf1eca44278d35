"""What a probe answers."""

from __future__ import annotations

import pytest

from rolecall.errors import InputError
from rolecall.listening import Address, parse_address
from rolecall.metrics import Probe


@pytest.fixture
def probe() -> Probe:
    return Probe("readyz", {"readyz": lambda: "", "streams": lambda: "App is not synced"})


def test_probe_that_fails_says_which_check_and_why(probe: Probe) -> None:
    assert probe.ask_all() == (
        500,
        "[+]readyz ok\n[-]streams failed: App is not synced\nreadyz check failed\n",
    )


def test_excluded_check_is_not_asked(probe: Probe) -> None:
    assert probe.ask_all(exclude=["streams"]) == (200, "ok")
    code, text = probe.ask_all(exclude=["streams"], verbose=True)
    assert (code, text) == (200, "[+]readyz ok\n[+]streams excluded: ok\nreadyz check passed\n")


def test_note_is_shown_and_never_fails() -> None:
    probe = Probe("readyz", {"readyz": lambda: ""}, notes={"warm": lambda: "plays start slowly"})
    assert probe.ask_all() == (200, "ok")
    code, text = probe.ask_all(verbose=True)
    assert code == 200 and "[+]warm ok: plays start slowly\n" in text
    assert probe.ask_one("warm") == (200, "ok: plays start slowly")


def test_exclusion_of_an_unknown_check_is_reported(probe: Probe) -> None:
    _, text = probe.ask_all(exclude=["streams", "nope"], verbose=True)
    assert 'warn: some health checks cannot be excluded: no matches for "nope"' in text


@pytest.mark.parametrize(
    ("check", "code", "text"),
    [
        ("readyz", 200, "ok"),
        ("streams", 500, "streams failed: App is not synced\n"),
        ("nope", 404, "readyz has no check `nope`\n"),
    ],
)
def test_one_check_can_be_asked_alone(probe: Probe, check: str, code: int, text: str) -> None:
    assert probe.ask_one(check) == (code, text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0", None),
        ("", None),
        (":8443", Address(None, 8443)),
        (":0", Address(None, 0)),
        ("127.0.0.1:80", Address("127.0.0.1", 80)),
        ("[::1]:80", Address("::1", 80)),
    ],
)
def test_bind_address_is_spelled_as_in_go(text: str, address: Address | None) -> None:
    assert parse_address(text, "x") == address


@pytest.mark.parametrize("text", ["8443", ":", ":99999", "host:"])
def test_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--metrics-bind-address: .* is not an address"):
        parse_address(text, "metrics-bind-address")
