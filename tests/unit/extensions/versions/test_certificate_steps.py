"""Authorities and certificates come and go, and the API server trusts whatever servers show."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from rolecall.certificates import PemPair
from rolecall.extensions.versions.webhooks.certificate_steps import (
    TRUSTED,
    certificates,
    may_be_shown,
    new_authority,
    new_server,
    next_content,
    to_trust,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = ["here.example.svc"]
DAY = timedelta(days=1)


@dataclass
class World:
    """A Secret, what was published to the API server, and replicas that may stop after any step."""

    now: datetime = NOW
    secret: dict[str, bytes] | None = None
    reported: bytes = b""
    shown: list[bytes] = field(default_factory=lambda: [b"", b"", b""])
    known: list[dict[str, bytes]] = field(default_factory=lambda: [{}, {}, {}])

    def refresh(self, number: int, *, is_asked: bool = False) -> None:
        held = self.known[number] if self.secret is None else self.secret
        content = next_content(held, NAMES, self.now, is_asked=is_asked)
        self.secret = self.known[number] = content
        if may_be_shown(content, self.shown[number], self.now):
            self.shown[number] = content["tls.crt"]

    def report(self, number: int) -> None:
        """The leader looked, and wrote what it knew."""
        self.reported = to_trust(self.known[number])

    def note(self, number: int) -> None:
        """The leader looked, and found what it knew."""
        bundle = to_trust(self.known[number])
        if bundle == self.reported and self.secret is not None:
            self.secret = next_content({**self.secret, TRUSTED: bundle}, NAMES, self.now)

    def refresh_all(self) -> None:
        for number in range(len(self.shown)):
            self.refresh(number)

    def lead(self, steps: int) -> None:
        """A leader's look, which may end after any step."""
        self.refresh(0)
        for step in (self.report, self.note)[:steps]:
            step(0)

    def is_trusted(self, shown: bytes) -> bool:
        return any(
            PemPair(shown, b"").is_signed_by(PemPair(each, b""))
            for each in certificates(self.reported)
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_whatever_replicas_do_in_whichever_order_what_they_show_is_trusted(seed: int) -> None:
    chance, world = random.Random(seed), World()
    world.refresh_all()
    world.lead(2)
    first = certificates(world.reported)[0]
    for _ in range(120):
        act = chance.choice(["refresh", "refresh", "leader", "lost", "asked", "later"])
        if act in ("lost", "asked", "later"):  # seldom; replicas look each minute
            world.refresh_all()
        if act == "lost":
            world.secret = None
        elif act == "later":
            world.now += chance.choice([DAY, 20 * DAY])
            world.refresh_all()
        elif act == "leader":
            world.lead(chance.randint(0, 2))
        else:
            world.refresh(chance.randrange(3), is_asked=act == "asked")
        assert all(world.is_trusted(shown) for shown in world.shown)
        assert len(certificates(world.reported)) <= 3
    assert certificates(world.reported)[0] != first, "an authority was exchanged at all"


def test_what_is_as_it_should_be_stays_to_the_byte() -> None:
    content = next_content({}, NAMES, NOW)
    assert next_content(content, NAMES, NOW + 59 * DAY) == content
    assert not set(content) - {"ca.crt", "ca.key", "tls.crt", "tls.key"}


def test_certificate_that_is_late_is_made_anew_by_the_same_authority() -> None:
    content = next_content({}, NAMES, NOW)
    later = next_content(content, NAMES, NOW + 61 * DAY)
    assert later["tls.crt"] != content["tls.crt"]
    assert later["ca.crt"] == content["ca.crt"]


def test_authority_that_is_late_goes_on_signing_until_the_next_one_is_trusted() -> None:
    late = NOW + 2500 * DAY
    content = next_content(next_content({}, NAMES, NOW), NAMES, late)
    old, coming = content["ca.crt"], content["next-ca.crt"]
    assert next_content(content, NAMES, late) == content

    exchanged = next_content({**content, TRUSTED: to_trust(content)}, NAMES, late)
    assert exchanged["ca.crt"] == coming + old, "who signed before stays beside it"
    assert PemPair(exchanged["tls.crt"], b"").is_signed_by(PemPair(coming, b""))
    assert "next-ca.crt" not in exchanged
    assert next_content(exchanged, NAMES, NOW + 3660 * DAY)["ca.crt"] == coming


def test_replicas_that_want_other_names_leave_each_other_theirs() -> None:
    first = next_content({}, ["old.example.svc"], NOW)
    both = next_content(first, ["10.0.0.1", "new.example.svc"], NOW)
    assert PemPair(both["tls.crt"], b"").names == ["10.0.0.1", "new.example.svc", "old.example.svc"]
    assert next_content(both, ["old.example.svc"], NOW) == both


@pytest.mark.parametrize(
    "spoiled",
    [
        {"tls.key": b"nonsense"},
        {"tls.crt": b"-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"},
        {"ca.key": new_authority(NOW).key},
        {"ca.crt": b""},
        {"tls.crt": new_server(new_authority(NOW), NAMES, NOW).certificate},
    ],
)
def test_damaged_certificate_secret_is_renewed(spoiled: dict[str, bytes]) -> None:
    content = next_content({**next_content({}, NAMES, NOW), **spoiled}, NAMES, NOW)
    authority = PemPair(certificates(content["ca.crt"])[0], content["ca.key"])
    server = PemPair(content["tls.crt"], content["tls.key"])
    assert authority.belongs_together
    assert server.belongs_together
    assert server.is_signed_by(authority)
