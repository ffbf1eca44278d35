from __future__ import annotations

import json

import yaml

from rolecall.runner import extra_vars
from rolecall_dev.cli.vars_text import as_json, as_yaml
from tests.unit.runner.cases import app, run_request

VALUES = extra_vars(run_request(app({"plain": "text", "odd": "{{ x }}", "n": [1, None]}))).values


def test_plain_text_is_printed_plain() -> None:
    found = json.loads(as_json(VALUES))
    assert found["plain"] == "text"
    assert found["n"] == [1, None]
    assert "plain: text\n" in as_yaml(VALUES)


def test_what_looks_like_a_template_is_marked_so_that_ansible_leaves_it_alone() -> None:
    assert json.loads(as_json(VALUES))["odd"] == {"__ansible_unsafe": "{{ x }}"}
    assert 'odd: !unsafe "{{ x }}"\n' in as_yaml(VALUES)


def test_yaml_without_templates_is_plain_yaml_in_the_order_of_the_contract() -> None:
    values = extra_vars(run_request(app({"b": 1, "a": 2}))).values
    loaded = yaml.safe_load(as_yaml(values))
    assert loaded == json.loads(as_json(values))
    assert list(loaded) == [
        "b",
        "a",
        "ansible_operator_meta",
        "_demo_example_com_app",
        "_demo_example_com_app_spec",
    ]
