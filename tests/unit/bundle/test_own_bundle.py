"""Our bundle as it is checked in: who installs it by OLM may set what the reference promises."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli.flag_parser import choose
from rolecall.settings import Flag, FlagKind, flags_of_run

ROOT = Path(__file__).parents[3]
# The probes of the Deployment ask this port.
FIXED = {"health-probe-bind-address"}
SETTABLE = [
    flag
    for flag in flags_of_run().values()
    if flag.name not in FIXED and not flag.alias_of and not flag.is_ignored
]


@cache
def container() -> dict[str, Any]:
    file = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    (deployment,) = yaml.safe_load(file.read_text())["spec"]["install"]["spec"]["deployments"]
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(found)


def environment_with(variable: str, value: str) -> dict[str, str]:
    """As OLM adds a Subscription's `config.env` to that of the Deployment: by name, and it wins."""
    rows = {row["name"]: row.get("value", "") for row in container()["env"]}
    return {**rows, variable: value}


def other_value(flag: Flag) -> str:
    """One that neither the Deployment nor the engine has by itself."""
    if flag.choices:
        return next(choice for choice in flag.choices if choice != flag.default)
    by_kind = {
        FlagKind.TRUTH: "true" if flag.default == "false" else "false",
        FlagKind.WHOLE: "7",
        FlagKind.NUMBER: "7.5",
        FlagKind.BYTES: "7Gi",
        FlagKind.DURATION: "77s",
    }
    return by_kind.get(flag.kind, "other")


@pytest.mark.parametrize("flag", SETTABLE, ids=lambda flag: flag.name)
def test_subscription_can_set_every_flag_but_those_that_the_deployment_needs(flag: Flag) -> None:
    value = other_value(flag)
    chosen = choose(container()["args"], environment_with(flag.variable, value))
    assert chosen.origins[flag.name] == flag.variable
    assert chosen[flag.name] == choose([f"--{flag.name}={value}"], {})[flag.name]


def test_subscription_can_take_back_what_the_deployment_sets() -> None:
    rows = [row["name"] for row in container()["env"] if row["name"].startswith("ROLECALL_")]
    assert "ROLECALL_METRICS_REQUIRE_RBAC" in rows
    variables = {flag.variable: flag for flag in flags_of_run().values()}
    for name in rows:
        value = "false" if variables[name].kind is FlagKind.TRUTH else "0"
        chosen = choose(container()["args"], environment_with(name, value))
        assert str(chosen[variables[name].name]).lower() == value


def test_only_what_the_engine_needs_is_granted_in_the_whole_cluster() -> None:
    file = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    install = yaml.safe_load(file.read_text())["spec"]["install"]["spec"]
    (wide,) = install["clusterPermissions"]
    granted = {name: rule["verbs"] for rule in wide["rules"] for name in rule["resources"]}
    assert granted == {
        "customresourcedefinitions": ["get", "list", "watch"],
        "namespaces": ["get", "list", "watch"],
        "storageclasses": ["get"],
        "subjectaccessreviews": ["create"],
        "tokenreviews": ["create"],
    }


def test_pods_keep_the_label_by_which_commands_find_them() -> None:
    file = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    (deployment,) = yaml.safe_load(file.read_text())["spec"]["install"]["spec"]["deployments"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels["rolecall.dev/engine"] == "rolecall"
