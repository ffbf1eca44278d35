"""Flags of extensions: found by entry points, read into settings of their own, unknown once deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Self

import pytest

from rolecall.cli import settings_of
from rolecall.errors import InputError
from rolecall.settings import (
    Chosen,
    ExtensionFlags,
    Flag,
    FlagGroup,
    FlagKind,
    extension_flags,
    installed,
    known_flags,
)


@dataclass(frozen=True, slots=True)
class NoiseFlags(ExtensionFlags):
    group = FlagGroup("noise", (Flag("noise", FlagKind.WHOLE, "3", "how loud"),))
    noise: int = 3

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        return cls(chosen["noise"])


class PortFlags(NoiseFlags):
    group = FlagGroup("port", (Flag("proxy-port", FlagKind.WHOLE, "3", "of mine"),))


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """`install(name=value)`: the entry points that there are then."""

    def installed_then(**values: str) -> None:
        points = [EntryPoint(name, value, installed.FLAGS_GROUP) for name, value in values.items()]
        monkeypatch.setattr(installed, "entry_points", lambda group: points)
        extension_flags.cache_clear()

    yield installed_then
    extension_flags.cache_clear()


def test_flag_of_an_extension_is_read_into_its_settings(install: Install) -> None:
    install(noisy=f"{__name__}:NoiseFlags")
    settings, _ = settings_of(["--noise=7"], {})
    assert settings.extension(NoiseFlags) == NoiseFlags(7)
    assert settings_of([], {"ROLECALL_NOISE": "8"})[0].extension(NoiseFlags) == NoiseFlags(8)
    with pytest.raises(InputError, match="did you mean `--noise`"):
        settings_of(["--nois=7"], {})


def test_flag_of_a_deleted_extension_is_unknown(install: Install) -> None:
    install(gone="rolecall.extensions.deleted.flags:DeletedFlags")
    assert settings_of(["--proxy-port=7"], {})[0].proxy.port == 7
    with pytest.raises(InputError, match="flag `--page-access` is not known"):
        settings_of(["--page-access=local"], {})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"mine": "NoiseFlags", "twin": "NoiseFlags"}, "`twin` and mine have a flag `--noise`"),
        ({"mine": "PortFlags"}, "`mine` and the engine have a flag `--proxy-port`"),
        ({"mine": "Install"}, "is not a subclass of `ExtensionFlags`"),
    ],
)
def test_wrong_declaration_ends_the_start(
    install: Install, values: dict[str, str], said: str
) -> None:
    install(**{name: f"{__name__}:{value}" for name, value in values.items()})
    with pytest.raises(InputError, match=said):
        settings_of([], {})


def test_words_of_flags_that_no_extension_has_are_left_out(install: Install) -> None:
    words = ["--proxy-port=0", "--noise=4", "--max-runs"]
    install(mine=f"{__name__}:NoiseFlags")
    assert known_flags(words) == words
    install()
    assert known_flags(words) == ["--proxy-port=0", "--max-runs"]
