"""What a person reads of an engine at work."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from tests.unit.cli.fake_engine import FakeEngine, ago, cr


def in_s(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def columns(text: str) -> list[list[str]]:
    return [[cell for cell in line.split("  ") if cell] for line in text.splitlines()]


def test_running_cr_tells_its_task_and_how_long_it_has_been_at_it(engine: FakeEngine) -> None:
    running = {"task": "install nginx", "place": "roles/web/tasks/main.yml:12"}
    engine.crs = [cr("shop", "running", task_since=ago(4530), began=ago(4560), **running)]
    said = engine.rolecall("status")
    row = columns(said.stdout)[1]
    assert [each.strip() for each in row[:4]] == ["default", "website/shop", "running", "1h15m"]
    assert "install nginx" in row[4]
    assert (
        said.stderr == "engine of this machine (process 71) leads, cluster https://10.0.0.1:6443\n"
    )


def test_run_that_waits_says_so_beside_its_task(engine: FakeEngine) -> None:
    waits = {"task": "wait for pods", "task_since": ago(7300), "waits_since": ago(7230)}
    engine.crs = [cr("shop", "running", **waits), cr("blog", "running", task="build it")]
    said = engine.rolecall("status").stdout
    assert "[waits] wait for pods" in said and "[waits] build it" not in said
    assert "for 2h, and needs no slot" in engine.rolecall("status", "website/shop").stdout


def test_waiting_key_tells_its_urgency_and_its_cause(engine: FakeEngine) -> None:
    waits = {"urgency": "edit", "cause": "edit of generation 4", "waiting_since": ago(5)}
    engine.crs = [cr("shop", "waiting", **waits)]
    assert "[edit] edit of generation 4" in engine.rolecall("status").stdout


def test_failed_cr_tells_why_and_when_it_is_tried_again(engine: FakeEngine) -> None:
    last = {"run": "8345", "outcome": "failed", "reason": "no such image", "ended": ago(12030)}
    engine.crs = [cr("shop", "failed", last=last, next_at=in_s(31), next_why="retry 3")]
    said = engine.rolecall("status", "website/shop").stdout
    assert "failed 3h20m ago, run 8345" in said
    assert "no such image" in said
    assert "retry 3" in said


def test_kind_is_named_as_kubectl_takes_it(engine: FakeEngine) -> None:
    engine.crs = [cr("shop"), cr("blog")]
    for word in (
        "website",
        "Website",
        "WEBSITES",
        "websites.example.com",
        "website.v1.example.com",
    ):
        assert "website/blog" in engine.rolecall("status", word).stdout, word
    assert "shop" not in engine.rolecall("status", "website/blog").stdout


def test_misspelt_kind_and_name_get_the_nearest(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    said = engine.rolecall("status", "webside")
    assert (said.returncode, "did you mean `website`?" in said.stderr) == (2, True)
    said = engine.rolecall("status", "website/shp")
    assert (said.returncode, "did you mean `website/shop`?" in said.stderr) == (2, True)


def test_name_of_two_namespaces_asks_which(engine: FakeEngine) -> None:
    engine.crs = [cr("shop"), {**cr("shop"), "namespace": "other"}]
    said = engine.rolecall("status", "website/shop")
    assert said.returncode == 2
    assert "`default`, `other`" in said.stderr
    assert engine.rolecall("status", "website/shop", "-n", "other").returncode == 0


def test_json_has_engine_and_chosen_crs(engine: FakeEngine) -> None:
    engine.crs = [cr("shop"), cr("blog")]
    found = json.loads(engine.rolecall("status", "website/shop", "-o", "json").stdout)
    assert found["engine"]["pid"] == 71
    assert [each["name"] for each in found["crs"]] == ["shop"]
    watched = engine.rolecall("status", "-w", "-o", "json").stdout.splitlines()
    assert [len(json.loads(line)["crs"]) for line in watched] == [2, 2]


def test_watch_prints_a_line_once_where_nobody_looks(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    said = engine.rolecall("status", "-w").stdout
    assert said.count("website/shop") == 1
    assert "\x1b" not in said


def test_without_an_engine_the_artifacts_tell(ended_engine: FakeEngine) -> None:
    ended_engine.keep_run(
        "shop", "8345", outcome="failed", reason="no such image", ended=datetime.now(UTC)
    )
    said = ended_engine.rolecall("status")
    assert "no operator answers" in said.stderr
    row = columns(said.stdout)[1]
    assert row[1].strip() == "website/shop"
    assert row[2].strip() == "unknown"
    assert "failed" in said.stdout
    followed = ended_engine.rolecall("status", "-w")
    assert followed.returncode == 1
    assert "rolecall run" in followed.stderr


def test_text_of_a_cr_cannot_steer_the_terminal(engine: FakeEngine) -> None:
    reason = "a\x1b[2J\x1b]0;b\x07\x07c\n\nd"
    last = {"run": "1", "outcome": "failed", "reason": reason, "ended": ago(1)}
    engine.crs = [cr("shop", "failed", last=last)]
    for words in (("status",), ("status", "website/shop")):
        said = engine.rolecall(*words).stdout
        assert "ac d" in said
        assert "\x1b" not in said
        assert "\x07" not in said
