"""A key of spec that the CRD does not declare does not replace what the role itself sets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.runner import SpecKeys, declared_in, extra_vars
from rolecall.watches import Finalizer, Play, Watch
from tests.unit.runner.cases import APP, app, run_request
from tests.unit.runner.test_own_names import role_with

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Api:
    """An API server that publishes this schema of `spec`."""

    def __init__(self, spec: dict[str, Any], fails: Exception | None = None) -> None:
        self.spec, self.fails, self.asked = spec, fails, 0

    async def read_bytes(self, path: str, *, accept: str = "") -> bytes:
        self.asked += 1
        assert path == "/openapi/v3/apis/demo.example.com/v1" and not accept
        if self.fails is not None:
            raise self.fails
        kind = {"group": APP.group, "version": APP.version, "kind": APP.kind}
        schema = {"properties": {"spec": self.spec}, "x-kubernetes-group-version-kind": [kind]}
        return json.dumps({"components": {"schemas": {"x": {}, "y": schema}}}).encode()


def declaring(*names: str) -> Api:
    return Api({**OPEN, "properties": {name: {"type": "string"} for name in names}})


@pytest.fixture(autouse=True)
async def no_threads_left() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def role(tmp_path: Path) -> Play:
    return role_with(
        tmp_path,
        ("vars/main.yml", "_ov_target_ns: apps\nsize: 1\n"),
        ("defaults/main.yml", "size: 2\nimage: x\n"),
        ("tasks/main.yml", "- ping:\n  register: found\n- set_fact: {made_up: 1}\n"),
    )


async def variables(api: Api, play: Play, spec: dict[str, Any], **watch: Any) -> dict[str, Any]:
    """Those of spec that the play gets."""
    found = await SpecKeys(api, SystemClock()).withheld(
        Watch(APP, play, **watch), app(spec), is_finalizer=False
    )
    passed = extra_vars(run_request(app(spec), play=play, withheld=found.keys, **watch))
    assert passed.values["_demo_example_com_app_spec"] == spec
    return {key: passed.values[key] for key in passed.values if "demo" not in key and key != META}


META = "ansible_operator_meta"


@pytest.mark.parametrize(
    "key", ["OvTargetNs", "_ov_target_ns", "found", "Found", "madeUp", "made_up"]
)
async def test_undeclared_key_does_not_replace_what_the_role_sets(role: Play, key: str) -> None:
    meets = key != "Found"  # which becomes `_found`
    assert bool(await variables(declaring("other"), role, {key: "kube-system"})) != meets
    assert await variables(declaring(key), role, {key: "kube-system"}) != {}
    assert await variables(declaring(), role, {key: "x"}, spec_overrides_role=True) != {}


async def test_defaults_and_unknown_names_are_passed_without_asking_for_the_schema(
    role: Play,
) -> None:
    api, spec = declaring(), {"size": 3, "image": "y", "anything": {"made_up": 1}}
    assert await variables(api, role, spec) == spec
    assert api.asked == 0


async def test_declared_key_is_passed_where_an_undeclared_one_becomes_the_same_name(
    role: Play,
) -> None:
    spec = {"OvTargetNs": "declared", "_ov_target_ns": "smuggled"}
    assert await variables(declaring("OvTargetNs"), role, spec) == {"_ov_target_ns": "declared"}


async def test_names_are_compared_as_they_are_passed(role: Play) -> None:
    spec = {"OvTargetNs": "x", "_ov_target_ns": "y"}
    found = await variables(declaring(), role, spec, snake_case_parameters=False)
    assert found == {"OvTargetNs": "x"}


async def test_message_names_key_place_and_way_out(role: Play) -> None:
    keys = SpecKeys(declaring(), SystemClock())
    found = await keys.withheld(Watch(APP, role), app({"OvTargetNs": "x"}), is_finalizer=False)
    assert "`OvTargetNs` (set in app/vars/main.yml:1)" in found.message
    assert "`specOverridesRole: true`" in found.message


async def test_finalizers_own_role_is_looked_at(tmp_path: Path, role: Play) -> None:
    ending = role_with(tmp_path, ("vars/main.yml", "only_here: 1\n"), name="ending")
    watch = Watch(APP, role, finalizer=Finalizer("x/y", ending))
    keys = SpecKeys(declaring(), SystemClock())
    cr = app({"only_here": 2, "found": 1})
    for is_finalizer, withheld in ((True, {"only_here"}), (False, {"found"})):
        found = await keys.withheld(watch, cr, is_finalizer=is_finalizer)
        assert set(found.keys) == withheld


@pytest.mark.parametrize(
    "api",
    [
        Api(OPEN, RolecallError("forbidden")),
        Api(OPEN, OSError("unreachable")),
        Api(OPEN, ValueError("not JSON")),
    ],
    ids=["refused", "unreachable", "odd"],
)
async def test_unreadable_schema_keeps_the_go_operators_way_and_is_logged_once(
    role: Play, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    keys, watch, cr = SpecKeys(api, SystemClock()), Watch(APP, role), app({"found": "x"})
    for _ in range(3):
        found = await keys.withheld(watch, cr, is_finalizer=False)
        assert not found.keys
    assert caplog.text.count("the schema of a kind cannot be read") == 1


async def test_schema_is_kept_until_a_kind_changes(role: Play) -> None:
    api = declaring()
    keys, watch, cr = SpecKeys(api, SystemClock()), Watch(APP, role), app({"found": "x"})
    for asked, forgets in ((1, False), (1, True), (2, False)):
        assert (await keys.withheld(watch, cr, is_finalizer=False)).keys == {"found"}
        assert api.asked == asked
        if forgets:
            keys.forget_kinds()


def test_schema_of_a_built_in_kind_is_behind_a_reference() -> None:
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    reference = {"allOf": [{"$ref": "#/components/schemas/Spec"}]}
    whole = {"properties": {"spec": reference}, "x-kubernetes-group-version-kind": [kind]}
    document = {"components": {"schemas": {"D": whole, "Spec": {"properties": {"replicas": {}}}}}}
    assert declared_in(document, Gvk("apps", "v1", "Deployment")) == frozenset({"replicas"})
    assert declared_in(document, Gvk("apps", "v1", "Other")) is None
