"""What people see of a CR and of what it owns."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from rolecall.gvk import Gvk
from rolecall_dev.demo import Row, table_of
from rolecall_dev.demo.live_rows import in_words


def printed(*rows: Row) -> str:
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table_of(rows, "title"))
    return capture.get()


def test_ready_row_reports_the_time_it_took_and_what_it_owns() -> None:
    row = Row("DemoVolume", "one", "u1", 0.0, "True", "Bound", "", 0.0712, ["PVC Bound"])

    text = printed(row)

    assert "0.07 s" in text
    assert "PVC Bound" in text


def test_row_that_is_not_ready_reports_no_time() -> None:
    assert " s " not in printed(Row("DemoVolume", "one", "u1", 0.0)).splitlines()[4]


@pytest.mark.parametrize(
    ("gvk", "obj", "words"),
    [
        (Gvk("", "v1", "PersistentVolumeClaim"), {"status": {"phase": "Bound"}}, "PVC Bound"),
        (Gvk("", "v1", "Pod"), {}, "Pod Pending"),
        (Gvk("", "v1", "Service"), {}, "Service"),
        (
            Gvk("apps", "v1", "Deployment"),
            {"spec": {"replicas": 3}, "status": {"readyReplicas": 2}},
            "Deployment 2/3",
        ),
    ],
)
def test_dependent_is_reported_in_one_or_two_words(
    gvk: Gvk, obj: dict[str, Any], words: str
) -> None:
    assert in_words(gvk, obj) == words
