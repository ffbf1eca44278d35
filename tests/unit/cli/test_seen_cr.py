"""What a role gets of a CR that was never reconciled: what the engine writes before its first run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.watches import Play, Watch
from rolecall_dev.cli.crs import as_the_operator_sees

WATCH = Watch(Gvk("demo.example.com", "v1", "Site"), Play(Path("/roles/site"), is_role=True))


def seen(watch: Watch = WATCH, **more: Any) -> dict[str, Any]:
    cr = {"metadata": {"name": "a", "namespace": "b"}, **more}
    return as_the_operator_sees(cr, watch, is_finalizer=False)


def test_cr_that_was_never_reconciled_has_the_status_of_a_run_that_starts() -> None:
    types = [each["type"] for each in seen()["status"]["conditions"]]
    assert set(types) == {"Running", "Ready"}
    without = seen(replace(WATCH, ready_condition=False))["status"]["conditions"]
    assert "Ready" not in [each["type"] for each in without]


def test_status_that_is_there_and_one_that_no_engine_writes_stay() -> None:
    assert seen(status={"url": "x"})["status"] == {"url": "x"}
    assert "status" not in seen(replace(WATCH, manage_status=False))
