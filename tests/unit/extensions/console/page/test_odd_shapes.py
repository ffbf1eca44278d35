"""What should be an object, a list or a number may be anything: pages are made all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.extensions.console.control.engine import NOON, SITE, key
from tests.unit.extensions.console.page.reading_html import Seen

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.differences import differences
from rolecall.extensions.console.page.health import health_of
from rolecall.extensions.console.page.run_timeline import timeline_of
from rolecall.extensions.console.page.shown_tasks import ShownTasks, ends_of
from rolecall.extensions.console.page.views import CrPage, PageLayout, RunPage
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_cr, read_run

ODD: list[Any] = [None, True, 0, -1, 1e308, 10**400, "x", "", [], {}, [1], ["x"], [None], [[]]]
ODD += [{"x": 1}, {"type": {}}, [{"type": ["Ready"]}], [{"type": 5, "message": {"a": []}}]]
NAMES = ("spec", "status", "metadata")
LAYOUT = PageLayout(static="/static/0a")


def briefly(value: object) -> str:
    return str(value)[:20]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("odd", ODD, ids=briefly)
@pytest.mark.parametrize("where", [*NAMES, "conditions", "generation", "deletionTimestamp"])
def test_object_of_an_odd_shape_has_a_page(where: str, odd: Any) -> None:
    cr: dict[str, Any] = {"metadata": {}, "status": {}}
    if where in NAMES:
        cr[where] = odd
    else:
        cr["status" if where == "conditions" else "metadata"][where] = odd
    made = views.cr(CrPage(key("a"), None, cr, changes=differences(odd, cr)), LAYOUT)
    assert Seen(made).harm == []


@pytest.mark.parametrize("odd", ODD, ids=briefly)
@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "Pod", "Job", "Thing"])
def test_health_of_an_object_of_an_odd_shape(kind: str, odd: Any) -> None:
    gvk = Gvk("apps", "v1", kind)
    for found in (
        {"spec": odd, "status": odd, "metadata": odd},
        {"status": {"conditions": odd, "phase": odd, "failed": odd}},
        {"spec": {"replicas": odd}, "status": {"readyReplicas": odd}},
    ):
        word, is_well, why = health_of(gvk, found)
        assert isinstance(word, str) and isinstance(why, str) and is_well in (True, False, None)


def test_many_conditions_are_cut_with_a_word() -> None:
    cr = {"metadata": {}, "status": {"conditions": [{"type": f"T{n}"} for n in range(5000)]}}
    text = "".join(Seen(views.cr(CrPage(key("a"), None, cr), LAYOUT)).text)
    assert "T99" in text and "T100" not in text
    assert "There are 4,900 more." in text


def test_spec_that_is_nested_deeply_is_compared() -> None:
    assert differences(deep(400), deep(400)) == []
    ((path, _, _),) = differences(deep(400), deep(401))
    assert path == ".a" * 50


EVENT_PARTS = ("event", "event_data", "created", "stdout")
DATA_PARTS = ("task", "task_uuid", "task_path", "resolved_action", "res", "duration", "host")


def shapes() -> list[dict[str, Any]]:
    found = []
    for odd in ODD:
        usual = {"event": "runner_on_ok", "event_data": {"task_uuid": "u", "res": {}}}
        found += [{**usual, part: odd} for part in EVENT_PARTS]
        for kind in ("runner_on_failed", "playbook_on_task_start"):
            for part in DATA_PARTS:
                data = {"task_uuid": "u", "task": "t", "res": {"msg": odd}, part: odd}
                found.append({"event": kind, "event_data": data})
        found.append({**usual, "event_data": {"task_uuid": "u", "res": {"invocation": odd}}})
    return found


def test_events_of_odd_shapes_make_tasks_that_can_be_shown(tmp_path: Path) -> None:
    folder = tmp_path / "job_events"
    folder.mkdir()
    start = {"event": "playbook_on_task_start", "event_data": {"task_uuid": "u", "task": "t"}}
    for number, event in enumerate([start, *shapes()], 1):
        (folder / f"{number}-x.json").write_text(json.dumps(event))
    (folder / "²-x.json").write_text(json.dumps(start))
    (folder / f"{'9' * 200}-x.json").write_text(json.dumps(start))
    (folder / f"{number + 1}-x.json").write_text("[" * 100_000)
    (folder / f"{number + 2}-x.json").write_text('{"event_data": {"res": "\\ud800"}, "event": NaN}')
    tasks = ShownTasks(tmp_path)
    while tasks.read(100):
        pass
    assert tasks.counter == number + 2
    run = KeptRun("1", outcome="failed", seconds=5.0)
    timeline = timeline_of(run, tasks.tasks, None, NOON)
    shown = RunPage(key("a"), run, tasks.tasks, 1, False, False, timeline=timeline)
    assert Seen(views.run(shown, LAYOUT)).harm == []
    for task in tasks.tasks:
        details = views.task_details(list(ends_of(task, tmp_path)), None)
        assert Seen(details).harm == []
        assert len(details) < 50_000


def test_names_of_tasks_do_not_fill_the_memory(tmp_path: Path) -> None:
    folder = tmp_path / "job_events"
    folder.mkdir()
    names = ("task", "task_uuid", "task_path", "resolved_action")
    data = dict.fromkeys(names, "x" * 1_000_000)
    for number in (1, 2):
        event = {"event": "playbook_on_task_start", "event_data": data, "created": "x" * 1_000_000}
        (folder / f"{number}-x.json").write_text(json.dumps(event))
    tasks = ShownTasks(tmp_path)
    tasks.read()
    for task in tasks.tasks:
        texts = (task.name, task.path, task.action, task.uuid)
        assert max(map(len, texts)) <= 500


def test_task_of_a_thousand_hosts_shows_some_and_says_how_many(tmp_path: Path) -> None:
    folder = tmp_path / "job_events"
    folder.mkdir()
    start = {"event": "playbook_on_task_start", "event_data": {"task_uuid": "u", "task": "t"}}
    (folder / "1-x.json").write_text(json.dumps(start))
    for number in range(2, 32):
        data = {"task_uuid": "u", "host": f"host{number}", "res": {}}
        event = {"event": "runner_on_ok", "event_data": data}
        (folder / f"{number}-x.json").write_text(json.dumps(event))
    tasks = ShownTasks(tmp_path)
    tasks.read()
    ends = list(ends_of(tasks.tasks[0], tmp_path))
    assert len(ends) == 21
    assert ends[-1].host == "and 10 hosts more"


@pytest.mark.parametrize("odd", ODD, ids=briefly)
def test_run_of_an_odd_file_is_shown(tmp_path: Path, odd: Any) -> None:
    folder = kept_cr(tmp_path, SITE, "shop", "a").artifacts / "1"
    folder.mkdir(parents=True)
    names = ("generation", "seconds", "cpu_s", "began", "cause", "reason", "outcome", "failed_task")
    (folder / "run.json").write_text(json.dumps(dict.fromkeys(names, odd)))
    run = read_run(folder)
    made = views.cr(CrPage(key("a"), None, None, [run], may_read_log=True), LAYOUT)
    timeline = timeline_of(run, [], None, NOON)
    shown = RunPage(key("a"), run, [], 0, is_cut=False, by_time=True, timeline=timeline)
    assert Seen(made + views.run_facts(shown)).harm == []
