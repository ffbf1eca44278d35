"""Asking the engine to end a run."""

from __future__ import annotations

import json

from tests.unit.cli.fake_engine import FakeEngine, cr

REPORTED = {"key": "Website default/shop", "run": "4711", "task": "wait", "place": "roles/a.yml:1"}


def test_run_of_one_cr_is_stopped_for_the_person_who_asks(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    engine.answer = (202, REPORTED)
    said = engine.rolecall("stop", "websites/shop", "--run", "47", USER="jane")
    (asked,) = engine.asked
    assert asked == {
        **{"kind": "Website", "namespace": "default", "name": "shop"},
        **{"run": "47", "by": "jane"},
    }
    assert said.stdout == "Website default/shop: run 4711 is stopped, at task `wait`\n"
    assert "rolecall reconcile websites/shop" in said.stderr
    assert json.loads(engine.rolecall("stop", "website/shop", "-o", "json").stdout) == REPORTED


def test_refusal_is_reported_in_the_engines_words(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    engine.answer = (409, {"error": "no run of Website default/shop is in flight"})
    said = engine.rolecall("stop", "website/shop")
    assert (said.returncode, "is in flight" in said.stderr) == (1, True)


def test_one_cr_is_named_and_never_a_kind(engine: FakeEngine) -> None:
    assert engine.rolecall("stop", "website").returncode == 2
    assert engine.asked == []
