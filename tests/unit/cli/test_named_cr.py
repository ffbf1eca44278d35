"""`KIND/NAME`, as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.watches import Play, Watch
from rolecall_dev.cli.crs import parse_named


def watch(kind: str, group: str = "demo.example.com") -> Watch:
    return Watch(gvk=Gvk(group, "v1", kind), play=Play(Path("role"), is_role=True))


WATCHES = [watch("Website"), watch("Backup"), watch("Backup", "other.example.com")]


@pytest.mark.parametrize(
    "text",
    [
        "Website/web",
        "website/web",
        "Website.demo.example.com/web",
        "website.v1.demo.example.com/web",
    ],
)
def test_kind_is_found_however_it_is_written(text: str) -> None:
    found = parse_named(text, WATCHES)
    assert (found.watch, found.name) == (WATCHES[0], "web")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("Website", "write KIND/NAME, such as `Website/NAME`"),
        ("cr.yaml", "`--cr cr.yaml`"),
        ("config/samples/cr.yaml", "`--cr config/samples/cr.yaml`"),
        ("websit/web", "did you mean `Website`?"),
        ("queue/web", "watches.yaml watches Website, Backup"),
        ("backup/web", "write one of `Backup.demo.example.com`, `Backup.other.example.com`"),
    ],
)
def test_what_is_wrong_is_reported_with_the_way_out(text: str, reported: str) -> None:
    with pytest.raises(InputError) as error:
        parse_named(text, WATCHES)
    assert reported in str(error.value)
