"""What is not known is never reported as no change: in text, in JSON, and in a condition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.extensions.plan.drift import drift_in
from rolecall.gvk import Gvk
from rolecall.plan import Certainty, PlannedChange, PlannedObject, PlannedRun, PlanNote, TaskPlace
from rolecall_dev.cli.plan_output import as_json, lines_of, summary

AT = TaskPlace("apply", "roles/web/tasks/main.yml:3")
EMPTY = PlannedRun("Web", "shop", "one")
MADE = PlannedObject(
    PlannedChange.CREATE, Gvk("", "v1", "ConfigMap"), "shop", "x", None, {}, Certainty.EXACT
)
HERE = PlanNote("unknown", "`kubectl apply -f - <<EOF`: a here-document", AT)
HELM = PlanNote("unknown", "`kubernetes.core.helm` with `chart_ref`", AT)
HIDDEN = PlanNote("not shown", "pruning: no right", TaskPlace())
UNKNOWN = [
    pytest.param(replace(EMPTY, notes=(HERE,)), id="here-document"),
    pytest.param(replace(EMPTY, notes=(HELM, HERE)), id="helm and a here-document"),
    pytest.param(replace(EMPTY, failure=f"{AT} failed: no"), id="failed"),
    pytest.param(replace(EMPTY, notes=(HIDDEN,)), id="pruning not shown"),
]


@pytest.mark.parametrize("plan", UNKNOWN)
@pytest.mark.parametrize("objects", [(), (MADE,)], ids=["no object", "an object"])
def test_unknown_plan_is_never_no_change(plan: PlannedRun, objects: tuple[PlannedObject]) -> None:
    plan = replace(plan, objects=objects)
    if HIDDEN in plan.notes and objects:
        return
    assert not plan.is_sure
    assert plan.unknown
    text = "\n".join([*lines_of(plan), *summary([plan])])
    assert "nothing to change" not in text
    assert "1 CR: 0 without a change, 0 with, 1 " in text
    drift = drift_in(plan)
    assert drift.unknown == plan.unknown
    assert "is not known" in str(drift)
    found = as_json([plan])
    assert (found["summary"]["unknown"], found["crs"][0]["unknown"]) == (1, plan.unknown)


def test_reason_names_the_first_task_and_counts_the_others() -> None:
    plan = replace(EMPTY, notes=(HERE, HELM))
    assert plan.unknown == f"{HERE.what} ({AT}), and 1 more"


def test_plan_that_waits_for_nothing_and_changes_nothing_is_sure() -> None:
    plan = replace(EMPTY, notes=(PlanNote("wait", "Pod/x to be ready", AT),))
    assert plan.is_sure
    assert next(lines_of(plan)) == "Web shop/one: nothing to change"
    assert drift_in(plan).unknown == ""
