"""Whose an object is, what a quantity is worth, and which object a run is for."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleError

from rolecall.json_object import Json
from tests.unit.collection.plugins import part

objects = part("plugin_utils.objects")
changed = objects.changed
quantity = part("plugin_utils.quantity").quantity
found_cr = part("plugin_utils.cr").found_cr
report = part("module_utils.report")
CR = {
    "apiVersion": "shop.example.com/v1",
    "kind": "Basket",
    "metadata": {"name": "a", "uid": "u", "namespace": "n"},
}
META = {"name": "a", "namespace": "n"}


def service(name: str, **metadata: Any) -> Json:
    return {"kind": "Service", "metadata": {"name": name, **metadata}}


def test_foreign_is_what_neither_owner_nor_label_makes_ours() -> None:
    ours = service("a", ownerReferences=[{"uid": "u"}])
    labelled = service("b", labels={"any/label": "u"})
    theirs = service("c", ownerReferences=[{"uid": "v"}], labels={"u": "v"}, annotations={"x": "u"})
    assert objects.foreign([ours, labelled, theirs, {}], CR) == ["Service c"]
    assert objects.foreign({"resources": [theirs]}, CR) == ["Service c"]
    assert objects.foreign({"results": [{"resources": [ours]}, {"resources": [theirs]}]}, CR) == [
        "Service c"
    ]
    assert objects.foreign([], CR) == []


def test_what_has_the_labels_of_an_object_before_is_not_foreign() -> None:
    kept = service("a", labels={"example.com/of": "b", "x": "y"})
    others = [service("b", labels={"example.com/of": "c"}), service("c")]
    assert objects.labelled([kept, *others], {"example.com/of": "b"}) == [kept]
    assert objects.foreign([kept, *others], CR, {"example.com/of": "b"}) == [
        "Service b",
        "Service c",
    ]


def test_object_without_uid_owns_nothing_by_accident() -> None:
    with pytest.raises(ValueError, match="no uid"):
        objects.is_ours(service("a"), {"metadata": {"name": "a"}})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("1Ti", 1024**4), ("1024Gi", 1024**4), ("1.5Gi", 1610612736), ("100m", 0.1), ("2", 2)),
        *(("1e3", 1000), ("1E", 10**18), ("1Ei", 1024**6), ("128k", 128000), (3, 3)),
        (" 5Mi ", 5 * 1024**2),
    ],
)
def test_quantities_are_numbers(text: Any, number: float) -> None:
    assert quantity(text) == number


@pytest.mark.parametrize("text", ["", "Gi", "1GiB", "1 Gi", "--1", None, True, "9" * 999])
def test_what_is_no_quantity_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def test_the_object_of_the_run_is_found_by_the_name_that_the_engine_gives_it() -> None:
    other = {"apiVersion": "v1", "kind": "Service", "metadata": META}
    variables = {
        "ansible_operator_meta": META,
        "_shop_example_com_basket": CR,
        "_found": CR,
        "_service": other,
    }
    assert found_cr(variables) == {"apiVersion": "shop.example.com/v1", "kind": "Basket", **META}


def test_second_object_that_a_cr_pretends_to_be_is_not_written_to() -> None:
    forged = {"apiVersion": "rich.example.com/v1", "kind": "Account", "metadata": META}
    variables = {
        "ansible_operator_meta": META,
        "_shop_example_com_basket": CR,
        "_rich_example_com_account": forged,
    }
    with pytest.raises(AnsibleError, match="several variables"):
        found_cr(variables)
    with pytest.raises(AnsibleError, match="run-role"):
        found_cr({"_shop_example_com_basket": CR})


def test_condition_of_another_object_needs_the_whole_object() -> None:
    named_cr = part("plugin_utils.cr").named_cr
    assert named_cr(CR) == {"apiVersion": "shop.example.com/v1", "kind": "Basket", **META}
    nothings: list[Any] = [{}, "m", {"metadata": {}}, [CR]]
    for nothing in nothings:
        with pytest.raises(AnsibleError, match="whole object"):
            named_cr(nothing)


def test_all_errors_of_a_report_are_reported_at_once() -> None:
    params: Json = {
        "ready": None,
        "reason": "x",
        "message": "",
        "status": {"conditions": []},
        "conditions": [{"type": "A", "status": "True"}, {"type": "A", "status": "maybe"}],
        "events": [{"name": "Not_legal"}],
    }
    with pytest.raises(report.InvalidReportError) as error:
        report.wanted_conditions(params)
    for part_of_it in (
        "`ready`, which is not given",
        "use `ready`",
        "`A` is given twice",
        "Not_legal",
        "Maybe",
    ):
        assert part_of_it in str(error.value)


@pytest.mark.parametrize("again", ["5", "soon", "1 m", "-1s"])
def test_time_that_no_engine_could_read_is_refused(again: str) -> None:
    with pytest.raises(report.InvalidReportError, match="is not a duration"):
        report.period_of(again)
    assert report.period_of("1m30s") == {"period": "1m30s"}
    assert report.period_of("") == {}


def _config(data: dict[str, str], **metadata: object) -> dict[str, object]:
    return {"kind": "ConfigMap", "metadata": {"name": "site", **metadata}, "data": data}


def test_object_that_has_more_than_is_wanted_is_not_changed() -> None:
    owners = [{"uid": "u-1", "kind": "Site"}]
    there = _config({"a": "1"}, ownerReferences=[*owners, {"uid": "u-2"}], uid="u-3")
    assert changed([_config({"a": "1"}, ownerReferences=owners)], {"resources": [there]}) == []


@pytest.mark.parametrize(
    "there",
    [_config({"a": "2"}), _config({}), {**_config({"a": "1"}), "kind": "Secret"}],
    ids=["edited", "emptied", "another kind"],
)
def test_object_that_is_not_as_wanted_is_changed(there: dict[str, object]) -> None:
    wanted = _config({"a": "1"})
    assert changed([wanted], [there]) == [wanted]


def test_field_that_the_api_server_leaves_out_is_no_change() -> None:
    wanted = {**_config({"a": "1"}), "immutable": None, "binaryData": {}}
    assert changed([wanted], [_config({"a": "1"})]) == []


def test_field_that_is_not_wanted_any_more_is_shown_by_the_stamp() -> None:
    (first,) = changed([_config({"a": "1", "b": "2"})], [], "example.com/applied")
    assert changed([_config({"a": "1", "b": "2"})], [first], "example.com/applied") == []
    assert len(changed([_config({"a": "1"})], [first], "example.com/applied")) == 1


def test_other_owners_of_an_object_are_no_change() -> None:
    ours, theirs = {"uid": "u1", "controller": False}, {"uid": "u2"}
    wanted = {"kind": "Service", "metadata": {"name": "db", "ownerReferences": [ours]}}
    (applied,) = changed([wanted], [], "x/applied")
    both = applied | {"metadata": applied["metadata"] | {"ownerReferences": [theirs, ours]}}
    without = applied | {"metadata": applied["metadata"] | {"ownerReferences": [theirs]}}

    assert changed([wanted], [both], "x/applied") == []
    assert changed([wanted], [without], "x/applied") == [applied]
