"""What a person reads of an engine at work."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from rolecall.json_object import Json
from tests.unit.cli.fake_engine import FakeEngine, ago, cr


def in_s(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def columns(text: str) -> list[list[str]]:
    return [[cell for cell in line.split("  ") if cell] for line in text.splitlines()]


def test_running_cr_reports_its_task_and_its_duration(engine: FakeEngine) -> None:
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


def test_waiting_key_reports_its_urgency_and_its_cause(engine: FakeEngine) -> None:
    waits = {"urgency": "edit", "cause": "edit of generation 4", "waiting_since": ago(5)}
    engine.crs = [cr("shop", "waiting", **waits)]
    assert "[edit] edit of generation 4" in engine.rolecall("status").stdout


def test_failed_cr_reports_why_and_when_it_is_retried(engine: FakeEngine) -> None:
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


def test_watch_without_a_terminal_prints_each_line_once(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    said = engine.rolecall("status", "-w").stdout
    assert said.count("website/shop") == 1
    assert "\x1b" not in said


def test_status_reads_artifacts_without_an_engine(ended_engine: FakeEngine) -> None:
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


FAILED = {
    "run": "1",
    "outcome": "failed",
    "reason": "no such image",
    "task": "Pull the image",
    "place": "roles/web/tasks/main.yml:7",
    "finalizer": False,
}
SENTENCE = "task `Pull the image` (roles/web/tasks/main.yml:7) failed: no such image"


def why(engine: FakeEngine, state: str, **facts: Any) -> str:
    """The row `why` of a CR; empty where there is none."""
    engine.crs = [cr("shop", state, **facts)]
    lines = engine.rolecall("status", "website/shop").stdout.splitlines()
    return "".join(line.split(maxsplit=1)[1] for line in lines if line.startswith("  why "))


def test_failure_has_task_file_and_line_and_is_printed_once(engine: FakeEngine) -> None:
    assert why(engine, "failed", last=FAILED) == SENTENCE
    assert engine.rolecall("status", "website/shop").stdout.count("no such image") == 1


def test_message_that_names_its_place_is_not_given_it_again(engine: FakeEngine) -> None:
    reason = "no output for 20 s in task `Pull the image` (roles/web/tasks/main.yml:7); stopped"
    assert why(engine, "failed", last={**FAILED, "reason": reason}) == reason


def test_waiting_deletion_names_the_finalizer_run_that_failed(engine: FakeEngine) -> None:
    last = {**FAILED, "finalizer": True}
    waiting = f"being deleted, waiting for the finalizer run, which failed: {SENTENCE}"
    assert why(engine, "failed", deleted=True, last=last) == waiting
    assert why(engine, "waiting", deleted=True, last=last) == waiting
    assert (
        why(engine, "running", deleted=True, last=last) == "being deleted, and its finalizer runs"
    )
    assert why(engine, "ready", deleted=True) == "being deleted, waiting for its finalizers"
    assert "[being deleted] no such image" in columns_of_failed(engine, last)


def columns_of_failed(engine: FakeEngine, last: Json) -> str:
    engine.crs = [cr("shop", "failed", deleted=True, last=last)]
    return engine.rolecall("status").stdout


def test_pause_has_as_much_as_its_annotations_say(engine: FakeEngine) -> None:
    since = "2026-11-22T12:00:00Z"
    resume = "; `rolecall resume website/shop -n default` ends it"
    note = {"by": "ann", "since": since, "because": "moving"}
    assert why(engine, "paused", pause=note) == f"paused by ann since {since}: moving{resume}"
    bare = {"by": "", "since": "", "because": ""}
    by_annotation = "paused by the annotation `rolecall.dev/paused`"
    assert why(engine, "paused", pause=bare) == f"{by_annotation}{resume}"
    held = why(engine, "paused", pause=note, deleted=True)
    assert held.startswith(f"being deleted, and paused by ann since {since}: moving; the finalizer")


def test_stopped_run_says_who_stopped_it_and_how_to_begin_again(engine: FakeEngine) -> None:
    last = {"run": "1", "outcome": "cancelled", "reason": "ann asked for it"}
    again = "; the next one begins at the period, after an edit, or with"
    assert why(engine, "stopped", last=last) == (
        f"the last run was stopped: ann asked for it{again}"
        " `rolecall reconcile website/shop -n default`"
    )
    assert why(engine, "waiting", last=last) == "the last run was stopped: ann asked for it"
    assert why(engine, "ready", last={"run": "1", "outcome": "succeeded"}) == ""


def test_running_cr_says_how_to_stop_it(engine: FakeEngine) -> None:
    engine.crs = [cr("shop", "running", task="build it")]
    said = engine.rolecall("status", "website/shop").stdout
    assert "`rolecall stop website/shop -n default` ends this run" in said


def test_running_cr_says_which_limits_stop_it(engine: FakeEngine) -> None:
    limits = {"began": "2026-11-22T12:00:00Z", "timeout_s": 600.0, "no_progress_timeout_s": 3600.0}
    engine.crs = [cr("shop", "running", task="build it", **limits)]
    said = " ".join(engine.rolecall("status", "website/shop").stdout.split())
    assert "as its time limit of 10m does at 2026-11-22T12:10:00Z" in said
    assert "without output, the engine stops it after 1h" in said
