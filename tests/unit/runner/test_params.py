from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.runner import extra_vars, snake_case
from rolecall.runner.params import cr_variable, snake_cased
from rolecall.watches import Finalizer
from tests.unit.runner.cases import app, run_request

TABLE = yaml.safe_load((Path(__file__).parents[2] / "data" / "snake_case.yaml").read_text())
ROWS = [row for part in TABLE.values() for row in part.items()]
EVIL = "{{ lookup('pipe', 'id') }}"


def dumped(spec: Any = None, *, is_finalizer: bool = False, **watch: Any) -> dict[str, Any]:
    """The extra vars as the file says them."""
    request = run_request(app(spec), is_finalizer=is_finalizer, **watch)
    loaded = json.loads(extra_vars(request).dump())
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize(("key", "expected"), ROWS, ids=[str(key) for key, _ in ROWS])
def test_snake_case_is_the_go_operators(key: str, expected: str) -> None:
    assert snake_case(key) == expected


@pytest.mark.parametrize("key", ["", " ", "   "])
def test_a_blank_key_stays_as_it_is_instead_of_crashing(key: str) -> None:
    assert snake_case(key) == key
    assert snake_cased({"outer": [{key: 1}]}) == {"outer": [{key: 1}]}


def test_snake_case_reaches_maps_in_lists_and_leaves_values_alone() -> None:
    value = {"podSpec": [{"nodeName": "camelCase"}, ["plainText"]]}
    assert snake_cased(value) == {"pod_spec": [{"node_name": "camelCase"}, ["plainText"]]}


@pytest.mark.parametrize("keys", list(permutations(["myKey", "my_key", "my-key"])))
def test_of_colliding_keys_the_one_spelled_that_way_wins(keys: tuple[str, ...]) -> None:
    assert snake_cased({key: key for key in keys}) == {"my_key": "my_key"}


@pytest.mark.parametrize("keys", list(permutations(["myKey", "my-key", "my key"])))
def test_of_other_colliding_keys_the_first_in_sorted_order_wins(keys: tuple[str, ...]) -> None:
    assert snake_cased({key: key for key in keys}) == {"my_key": "my key"}


@pytest.mark.parametrize(
    ("gvk", "name"),
    [
        (Gvk("cache.example.com", "v1", "Memcached"), "_cache_example_com_memcached"),
        (Gvk("", "v1", "Secret"), "__secret"),
        (
            Gvk("operator-with-dash.example.com", "v1", "Example"),
            "_operator_with_dash_example_com_example",
        ),
        (Gvk("Mixed.Example.com", "v1", "Kind"), "_Mixed_Example_com_kind"),
    ],
)
def test_the_cr_variable_is_named_after_group_and_kind(gvk: Gvk, name: str) -> None:
    assert cr_variable(gvk) == name


def test_trusted_vars_are_the_contracts() -> None:
    found = dumped({"sizeGb": 3}, mark_unsafe=False, vars={"x": "{{ y }}"})
    assert found == {
        "size_gb": 3,
        "ansible_operator_meta": {"namespace": "demo", "name": "shop"},
        "_demo_example_com_app": app({"sizeGb": 3}),
        "_demo_example_com_app_spec": {"sizeGb": 3},
        "x": "{{ y }}",
    }


def test_names_stay_verbatim_without_snake_case() -> None:
    assert dumped({"sizeGb": 3}, snake_case_parameters=False)["sizeGb"] == 3


def test_an_absent_or_odd_spec_is_an_empty_map() -> None:
    for odd in (None, "text", [1]):
        cr = {**app(), "spec": odd}
        found = json.loads(extra_vars(run_request(cr, mark_unsafe=False)).dump())
        assert found["_demo_example_com_app_spec"] == {}


def test_meta_of_a_cluster_scoped_cr_has_an_empty_namespace() -> None:
    found = json.loads(extra_vars(run_request({"metadata": {"name": "one"}})).dump())
    assert found["ansible_operator_meta"] == {"namespace": "", "name": "one"}


def test_watch_vars_beat_the_cr_and_finalizer_vars_beat_them() -> None:
    watch: Any = {
        "vars": {"a": "w", "b": "w"},
        "finalizer": Finalizer("x/y", vars={"b": "f"}),
    }
    spec = {"a": "cr", "b": "cr"}
    assert {key: dumped(spec, **watch)[key] for key in "ab"} == {"a": "w", "b": "w"}
    assert dumped(spec, is_finalizer=True, **watch)["b"] == "f"


@pytest.mark.parametrize("mark_unsafe", [None, True])
def test_every_text_of_the_cr_is_marked_unless_the_watch_says_otherwise(
    mark_unsafe: bool | None,
) -> None:
    marked = {"__ansible_unsafe": EVIL}
    cr = app({"text": EVIL, "deep": [{"x": [EVIL, 1, None, True]}]}, status={"message": EVIL})
    cr["metadata"]["annotations"] = {"note": EVIL}
    found = json.loads(extra_vars(run_request(cr, mark_unsafe=mark_unsafe)).dump())
    assert found["text"] == marked
    assert found["deep"] == [{"x": [marked, 1, None, True]}]
    whole = found["_demo_example_com_app"]
    assert whole["status"]["message"] == marked
    assert whole["metadata"]["annotations"]["note"] == marked
    assert found["_demo_example_com_app_spec"]["text"] == marked


def test_text_is_trusted_where_the_watch_or_the_engine_says_so() -> None:
    assert dumped({"text": EVIL}, mark_unsafe=False)["text"] == EVIL
    request = run_request(app({"text": EVIL}))
    assert json.loads(extra_vars(request, trust_cr_text=True).dump())["text"] == EVIL


def test_vars_and_meta_stay_templates() -> None:
    found = dumped(vars={"meta": "{{ ansible_operator_meta }}"})
    assert found["meta"] == "{{ ansible_operator_meta }}"
    assert found["ansible_operator_meta"]["name"] == "shop"


def test_a_name_that_is_a_template_is_marked() -> None:
    found = json.loads(extra_vars(run_request({"metadata": {"name": EVIL}})).dump())
    assert found["ansible_operator_meta"]["name"] == {"__ansible_unsafe": EVIL}


@pytest.mark.parametrize("key", [EVIL, "{% raw %}", "{# #}", "__ansible_unsafe", "__ansible_vault"])
def test_keys_that_json_cannot_mark_are_written_as_yaml(key: str) -> None:
    text = extra_vars(run_request(app({"map": {key: 5, "plain": "", "k": "v"}}))).dump()
    assert "__ansible_unsafe" not in text or key == "__ansible_unsafe"
    root = yaml.compose(text)
    assert isinstance(root, yaml.MappingNode)
    spec = {str(name.value): value for name, value in root.value}["_demo_example_com_app_spec"]
    ((_, inner),) = spec.value
    tags = {name.value: (name.tag, value.tag) for name, value in inner.value}
    assert tags[key] == ("!unsafe", "tag:yaml.org,2002:int")
    assert tags["k"] == ("!unsafe", "!unsafe")
    # Ansible would read an empty text with that tag as null.
    assert tags["plain"] == ("!unsafe", "tag:yaml.org,2002:str")


def test_a_cr_may_not_configure_ansible() -> None:
    spec = {"ansibleConnection": "ssh", "ansible_python_interpreter": EVIL, "size": 1}
    variables = extra_vars(run_request(app(spec)))
    assert variables.withheld == ("ansible_connection", "ansible_python_interpreter")
    found = json.loads(variables.dump())
    assert not {"ansible_connection", "ansible_python_interpreter"} & found.keys()
    assert found["size"] == 1
    assert found["_demo_example_com_app_spec"]["ansibleConnection"] == {"__ansible_unsafe": "ssh"}


def test_a_trusted_cr_may_configure_ansible_as_under_the_go_operator() -> None:
    assert dumped({"ansible_connection": "ssh"}, mark_unsafe=False)["ansible_connection"] == "ssh"


def test_a_blank_key_is_no_variable_but_stays_in_the_spec() -> None:
    found = dumped({"": 1, " ": 2})
    assert not {"", " "} & found.keys()
    assert found["_demo_example_com_app_spec"] == {"": 1, " ": 2}


def test_hostile_sizes_and_letters_survive() -> None:
    spec = {"big": "x{{" * 400_000, "letters": "ü😀\u2028\x00\ud800", "!unsafe": "!unsafe {{ x }}"}
    found = dumped(spec)
    for key, text in spec.items():
        assert found[key] == {"__ansible_unsafe": text}


def test_too_deep_nesting_is_reported_as_such() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    with pytest.raises(RecursionError):
        extra_vars(run_request(app({"deep": value}))).dump()


def test_what_cannot_be_read_as_json_is_not_read_as_yaml_unmarked() -> None:
    text = extra_vars(run_request(app({"text": EVIL}))).dump()
    assert json.loads(text)["text"] == {"__ansible_unsafe": EVIL}
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        with pytest.raises(yaml.YAMLError):
            yaml.load(text, Loader=loader)


@pytest.mark.parametrize(
    "text", ["yes", "~", "", "010", "1.5", "2026-11-25", "2026-99-99", "<<", "="]
)
def test_text_that_looks_like_something_else_stays_text_in_yaml(text: str) -> None:
    root = yaml.compose(extra_vars(run_request(app({"{{ key }}": 1, "text": text}))).dump())
    assert isinstance(root, yaml.MappingNode)
    (tag,) = {value.tag for key, value in root.value if key.value == "text"}
    assert tag == "tag:yaml.org,2002:str"  # tagged `!unsafe`, ansible-core 2.19 would resolve it


def test_yaml_says_the_same_as_json() -> None:
    spec = {
        "{{": 1,
        "k" * 2000: "x",
        "odd": '\x00\x7f\x85\u2028\ufeff ü😀 " \\ \t',
        "numbers": [0, -1, 10**30, 1.5, 1e20, 1e-7, True, False, None],
        "nothing": [{}, []],
        "yes": "no",
    }
    text = extra_vars(run_request(app(spec))).dump()
    loaded = yaml.load(text, Loader=UnsafeLoader)
    assert loaded["_demo_example_com_app_spec"] == spec


class UnsafeLoader(yaml.SafeLoader):
    """Reads Ansible's tag as plain text."""

    def unsafe(self, node: yaml.Node) -> str:
        assert isinstance(node, yaml.ScalarNode)
        return str(self.construct_scalar(node))


UnsafeLoader.add_constructor("!unsafe", UnsafeLoader.unsafe)
