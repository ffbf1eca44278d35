"""What a run read and wrote, as a person reads it."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.record import RunRecord, write_record
from tests.unit.cli.fake_engine import FakeEngine, cr
from tests.unit.cli.records import record, request, task, usual

NOW = datetime.now(UTC)
HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e" onload=x'


def keep(engine: FakeEngine, kept: RunRecord | None, run: str = "aa11", **facts: Any) -> None:
    engine.crs = [cr("shop")]
    reported: dict[str, Any] = {
        "outcome": "succeeded",
        "began": NOW,
        "seconds": 1.0,
        "cause": "edit",
        **facts,
    }
    folder = engine.keep_run("shop", run, **{**reported, **facts}).folder
    if kept is not None:
        write_record(folder, kept)


def test_record_names_tasks_with_their_requests(engine: FakeEngine) -> None:
    keep(engine, usual())
    said = engine.rolecall("runs", "website/shop", "--record")
    lines = said.stdout.splitlines()
    assert said.returncode == 0
    assert "2 tasks, 3 requests, 1 write" in lines[0]
    assert lines[1].startswith("note: 1 request came outside of any task")
    reported = [" ".join(line.split()) for line in lines[3:]]
    assert reported == [
        "0.100s roles/web/tasks/main.yml:3 make it changed, 400 ms",
        "get deployments.apps/web in default 404 10 ms",
        "create deployments.apps/web in default 201 10 ms"
        " sets .spec.replicas, .spec.template, .metadata.labels.app and 1 more",
        "0.550s outside of any task 10 ms",
        "list deployments.apps in default 200 10 ms 3 objects",
        "0.600s roles/web/tasks/main.yml:9 task 9 ok, 200 ms",
    ]


def test_record_of_the_newest_run_that_ended_unless_one_is_named(engine: FakeEngine) -> None:
    keep(engine, usual("aa11"))
    keep(engine, None, "bb22", outcome="running")
    assert "run aa11" in engine.rolecall("runs", "website/shop", "--record").stdout
    named = engine.rolecall("runs", "website/shop", "--run", "bb")
    assert named.returncode == 1
    assert "run bb22 of website/shop has no record: it is written when the run ends" in named.stderr


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"outcome": "lost"}, "the operator stopped before the run had ended"),
        ({}, "by an operator with --run-record=false"),
    ],
)
def test_run_without_a_record_says_why(engine: FakeEngine, facts: dict[str, Any], why: str) -> None:
    keep(engine, None, **facts)
    said = engine.rolecall("runs", "website/shop", "--record")
    assert said.returncode == 1
    assert why in said.stderr
    assert not said.stdout


def test_incomplete_record_says_so_before_all_else(engine: FakeEngine) -> None:
    keep(engine, record("aa11", [], [], incomplete="the run made more than 10,000 requests"))
    lines = engine.rolecall("runs", "website/shop", "--record").stdout.splitlines()
    assert lines[1] == (
        "note: the record is incomplete: the run made more than 10,000 requests; what came later is"
        " not in it"
    )


def test_record_as_json_is_that_of_the_file(engine: FakeEngine) -> None:
    keep(engine, usual())
    found = json.loads(engine.rolecall("runs", "website/shop", "--record", "-o", "json").stdout)
    assert (found["run"], found["why_none"]) == ("aa11", "")
    assert [each["verb"] for each in found["record"]["requests"]] == ["get", "create", "list"]
    assert found["record"]["tasks"][0]["place"] == "roles/web/tasks/main.yml:3"


def test_timeline_places_bars_by_time(engine: FakeEngine) -> None:
    keep(engine, usual())
    lines = engine.rolecall("runs", "website/shop", "--timeline").stdout.splitlines()[3:]
    first = next(line for line in lines if "main.yml:3" in line)
    second = next(line for line in lines if "main.yml:9" in line)
    created = next(line for line in lines if line.startswith("  create"))
    assert first.index("━") < created.index("▪") < first.rindex("━") < second.index("━")
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["|0.10s", "|0.33s", "|0.55s", "|0.78s"]


def test_timeline_of_many_requests_stays_short(engine: FakeEngine) -> None:
    many = [request("get", 0.2 + number / 1e4, 0) for number in range(5000)]
    keep(engine, record("aa11", [task(3, 0.1, 0.9)], many))
    lines = engine.rolecall("runs", "website/shop", "--timeline").stdout.splitlines()
    assert len(lines) < 30
    assert any("4,988 more requests" in line for line in lines)


def test_page_holds_no_script_and_lets_the_browser_load_nothing(
    engine: FakeEngine, tmp_path: Path
) -> None:
    tasks = [task(3, 0.1, None, HOSTILE, HOSTILE)]
    keep(engine, record("aa11", tasks, [request("get", 0.2, 0, name=HOSTILE, unread=HOSTILE)]))
    page = tmp_path / "run.html"
    said = engine.rolecall("runs", "website/shop", "--html", str(page))
    assert said.returncode == 0, said.stderr
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert ' style="' not in text
    assert "http:" not in text.replace('http-equiv="', "")
    assert "https:" not in text


def test_page_allows_its_own_style_sheet(engine: FakeEngine) -> None:
    keep(engine, usual())
    text = engine.rolecall("runs", "website/shop", "--html", "-").stdout
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in text


def test_page_can_go_to_stdout(engine: FakeEngine) -> None:
    keep(engine, usual())
    assert engine.rolecall("runs", "website/shop", "--html", "-").stdout.startswith(
        "<!doctype html>"
    )


def test_page_into_a_folder_that_is_not_there_is_one_line(engine: FakeEngine) -> None:
    keep(engine, usual())
    said = engine.rolecall("runs", "website/shop", "--html", "/nowhere/x.html")
    assert said.returncode == 2
    assert said.stderr.splitlines()[-1].endswith("there is no folder `/nowhere`")


def test_hostile_names_cannot_steer_the_terminal(engine: FakeEngine) -> None:
    keep(engine, record("aa11", [task(3, 0.1, 0.2, "ok", HOSTILE)], [request("get", 0.1, 0)]))
    for form in ("--record", "--timeline"):
        said = engine.rolecall("runs", "website/shop", form).stdout
        assert not {"\x1b", "\u202e"} & set(said)
