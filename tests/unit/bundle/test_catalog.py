"""Catalogs: channels, upgrade edges, and what was published stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from tests.unit.bundle.conftest import WriteBundle


def publish(version: str) -> int:
    return main(["catalog", "--bundle-image", f"example.com/bundle:v{version}"])


def channel(project: Path, name: str) -> list[dict[str, Any]]:
    text = (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text()
    (found,) = [
        it
        for it in yaml.safe_load_all(text)
        if it["schema"] == "olm.channel" and it["name"] == name
    ]
    entries: list[dict[str, Any]] = found["entries"]
    return entries


def test_next_version_gets_an_upgrade_edge(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.9.0") == 0
    assert publish("0.9.0") == 0
    assert write_bundle("0.10.0", "--replaces", "0.9.0", "--channels", "candidate") == 0
    assert publish("0.10.0") == 0
    assert channel(project, "candidate") == [
        {"name": "memcached-operator.v0.9.0"},
        {"name": "memcached-operator.v0.10.0", "replaces": "memcached-operator.v0.9.0"},
    ]


def test_same_bundle_again_changes_nothing(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    file = project / "catalog" / "memcached-operator" / "catalog.yaml"
    before = file.read_text()
    assert publish("0.1.0") == 0
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("bundle", "published_as", "said"),
    [
        (("0.1.0",), "0.1.0-again", "is published already"),
        (("0.2.0",), "0.2.0", "replaces nothing"),
        (("0.3.0", "--replaces", "0.2.0"), "0.3.0", "which is not in the channel"),
    ],
)
def test_entry_that_would_strand_users_is_refused(
    project: Path,
    write_bundle: WriteBundle,
    bundle: tuple[str, ...],
    published_as: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle(*bundle) == 0
    before = (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text()
    assert publish(published_as) == 2
    assert said in capsys.readouterr().err
    assert (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text() == before
