"""Asking the engine to take up CRs now."""

from __future__ import annotations

import json

from tests.unit.cli.fake_engine import FakeEngine, cr


def test_one_cr_is_asked_for_by_its_whole_name(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    engine.answer = (202, {"keys": ["Website default/shop"]})
    said = engine.rolecall("reconcile", "websites/shop")
    assert engine.asked == [{"kind": "Website", "namespace": "default", "name": "shop"}]
    assert said.stdout == "Website default/shop: will be reconciled now\n"


def test_all_and_all_of_a_kind(engine: FakeEngine) -> None:
    engine.rolecall("reconcile", "--all")
    engine.rolecall("reconcile", "website", "--all")
    assert engine.asked == [{"all": True}, {"kind": "Website", "all": True}]


def test_paused_cr_is_reported_with_the_way_out(engine: FakeEngine) -> None:
    engine.answer = (202, {"keys": ["Website a/b"], "paused": ["Website a/b"]})
    said = engine.rolecall("reconcile", "--all")
    assert said.stdout == "Website a/b: paused, so nothing runs\n"
    assert "rolecall resume" in said.stderr
    asked = engine.rolecall("reconcile", "--all", "-o", "json").stdout
    assert json.loads(asked) == engine.answer[1]


def test_refusal_of_the_engine_is_reported_in_its_words(engine: FakeEngine) -> None:
    engine.answer = (409, {"error": "this replica does not lead; pod-2 does"})
    said = engine.rolecall("reconcile", "--all")
    assert (said.returncode, "error: this replica does not lead; pod-2 does" in said.stderr) == (
        1,
        True,
    )


def test_neither_a_name_nor_all_is_refused(engine: FakeEngine) -> None:
    for words in ((), ("website",), ("website/shop", "--all")):
        said = engine.rolecall("reconcile", *words)
        assert (said.returncode, engine.asked) == (2, []), words


def test_without_an_engine_it_says_what_to_do(ended_engine: FakeEngine) -> None:
    said = ended_engine.rolecall("reconcile", "--all")
    assert said.returncode == 1
    assert "rolecall run" in said.stderr
    assert "--operator" in said.stderr
