"""A world in which all that owners and roles can write is written to do harm."""

from __future__ import annotations

from datetime import timedelta

from rolecall.json_object import Json
from rolecall.kube import OWNER_ANNOTATION
from rolecall.workqueue import Key, Urgency
from tests.browser.seeded_crs import conditions_of
from tests.browser.seeded_roles import WEBSITE, RoleTask
from tests.browser.seeded_runs import SeededRun
from tests.browser.seeded_world import NOW, SeededWorld

SCRIPT = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
FOREIGN = (
    "<img src=https://evil.example/a.png><link rel=stylesheet href=//evil.example/a.css>"
    "<meta http-equiv=refresh content='0;url=https://evil.example'>"
)
SIGNS = "\u001b[31mred\u001b]8;;http://evil.example\u0007link\u0000abc\u202edcba\u2066\u200f"
ATTRIBUTE = "\"'><svg onload=window.harmed=1><a href=javascript:window.harmed=1 onclick=x>here</a>"
TEMPLATE = (
    "{{ 7 * 7 }}{% for a in b %}${7*7}<!--#include virtual='/etc/passwd'-->]]></style></title>"
)
LINK = "javascript:window.harmed=1"
HARMS = (SCRIPT, FOREIGN, SIGNS, ATTRIBUTE, TEMPLATE, LINK)
HARM = " ".join(HARMS)
MEGABYTE = "<b>" + "long " * 200_000


def hostile(world: SeededWorld) -> None:
    """Twelve CRs: some good, some failed, one paused, one in flight, one that waits."""
    for number in range(12):
        key = Key(WEBSITE.gvk, "shop", f"hostile-{number:02}")
        harm = MEGABYTE if number == 11 else HARM
        tasks = tuple(
            RoleTask(each + HARMS[place], HARM, 1.0, "ConfigMap", polls=place % 2)
            for place, each in enumerate(("", "a ", "b ", "c ", "d ", "e "))
        )
        for hours in (3, 2, 1):
            is_bad = number % 2 == 1 and hours == 1
            outcome = "failed" if is_bad else "succeeded"
            run = SeededRun(key, WEBSITE, NOW - timedelta(minutes=20 * hours), 30.0, harm, outcome)
            run.tasks, run.changes = tasks, frozenset({0, 3})
            run.message, run.fails_in = harm, 4 if is_bad else -1
            run.spec = {HARM: hours, "size": harm}
            run_id = world.ran(run, events=True, record=True)
        folder = next(world.root.glob(f"**/{run_id}"))
        (folder / "stdout").write_text(harm + HARM, errors="replace")
        found = world.hold(key, "failed" if number % 2 else "ready", **_parts(run, harm))
        _make_owned(world, found, harm)
    _work_now(world)


def _parts(run: SeededRun, harm: str) -> Json:
    bad = {"type": HARM, "status": HARM, "reason": HARM, "message": harm}
    return {
        "labels": {HARM: HARM, "app": HARM},
        "annotations": {HARM: harm, OWNER_ANNOTATION: HARM},
        "spec": {HARM: [HARM, {HARM: harm}], "size": "big"},
        "conditions": [*conditions_of(run, run), {**bad, "lastTransitionTime": HARM}],
    }


def _make_owned(world: SeededWorld, owner: Json, harm: str) -> None:
    made, name = NOW - timedelta(days=1), owner["metadata"]["name"]
    data = {HARM: harm, "key": HARM}
    config = world.objects.put_owned(owner, "ConfigMap", f"{name}-config", made, data=data)
    fields: Json = {"f:data": {f"f:{HARM}": {}}, "f:metadata": {f"f:{HARM}": {}}}
    entry = {"manager": HARM, "operation": HARM, "time": HARM, "fieldsV1": fields}
    config["metadata"]["managedFields"].append(entry)
    config["metadata"]["annotations"] = {HARM: harm}
    workload = world.objects.put_workload(owner, "Deployment", name, made, ready=1)
    workload["status"]["conditions"] = [{"type": HARM, "status": HARM, "message": harm}]
    pod = world.objects.put_owned(workload, "Pod", f"{name}-odd", made)
    waiting = {"reason": HARM, "message": harm}
    pod["status"] = {"phase": HARM, "reason": HARM, "message": harm}
    pod["status"]["containerStatuses"] = [{"name": HARM, "state": {"waiting": waiting}}]


def _work_now(world: SeededWorld) -> None:
    paused, waits, runs = (Key(WEBSITE.gvk, "shop", f"hostile-{each:02}") for each in (0, 2, 4))
    world.pauses(paused, HARM, HARM, NOW - timedelta(hours=1))
    world.moves(paused, "paused")
    world.waits(waits, 9.0, Urgency.EDIT, HARM)
    world.moves(waits, "waiting")
    world.comes_back(waits, 60.0, Urgency.PERIOD, HARM)
    began = world.clock.now() - timedelta(seconds=20)
    run = SeededRun(runs, WEBSITE, began, 40.0, HARM, "running", progress=0.5)
    run.tasks = tuple(RoleTask(each, HARM, 1.0, "ConfigMap") for each in HARMS)
    world.runs_now(run)
    world.moves(runs, "running")
