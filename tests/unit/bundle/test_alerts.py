"""Who is called about which state of a custom resource, and what the page about alerts says of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from rolecall.extending import extension_classes
from rolecall.gvk import Gvk
from rolecall.metrics import NAMES, EngineMetrics
from rolecall.workqueue import Key
from tests.unit.bundle.alerts import ETCD, KINDS, OPERATOR, ROOT, Evaluated, firing, rules

TIMES: list[tuple[str, dict[str, tuple[str, str]], str, float]] = [
    ("PodSet", {"Ready": ("False", "BackOff")}, "ResourceNotReady", 15 * 60),
    ("PodSet", {"NotConverging": ("True", "TaskChanges")}, "ResourceNeverSettles", 30 * 60),
    ("EtcdCluster", {"Ready": ("False", "NoQuorum")}, "EtcdClusterNoQuorum", 2 * 60),
    ("EtcdCluster", {"BackedUp": ("False", "BackupFailed")}, "EtcdClusterNotBackedUp", 5 * 60),
    ("Appoperator", {"Ready": ("False", "PodsNotReady")}, "AppoperatorDown", 5 * 60),
    ("EtcdCluster", {"Ready": ("False", "DataLost")}, "EtcdClusterLost", 0),
    ("DemoVolume", {"Ready": ("False", "ClaimLost")}, "DemoVolumeLost", 0),
    ("MachineOperation", {"Ready": ("False", "TimedOut")}, "MachineOperationFailed", 0),
]
PAGE = (ROOT / "docs" / "guides" / "alerts.md").read_text()


def exposition_when(kind: str, **conditions: tuple[str, str]) -> str:
    """What an engine exports about one CR with these conditions: `Type=(status, reason)`."""
    metrics, key = EngineMetrics("1"), Key(Gvk("g.example.com", "v1", kind), "ns", "x")
    metrics.seen(key, datetime.now(UTC))
    rows = [
        {"type": name, "status": status, "reason": reason}
        for name, (status, reason) in conditions.items()
    ]
    metrics.conditions(key, rows)
    return metrics.exposition().decode()


def alerts_when(kind: str, **conditions: tuple[str, str]) -> set[str]:
    """What fires about one CR that stays so."""
    return {alert for alert, _name in firing(exposition_when(kind, **conditions))}


@pytest.mark.parametrize(
    ("kind", "status", "reason", "called"),
    [
        ("PodSet", "True", "AllReady", ""),
        ("PodSet", "False", "BackOff", "ResourceNotReady"),
        ("PodSet", "Unknown", "RunPending", "ResourceNotReady"),
        ("Mapping", "False", "PrefixTaken", "ResourceNotReady"),
        ("Machine", "False", "Stopped", ""),
        ("Machine", "False", "DiskRefused", "ResourceNotReady"),
        ("MachineOperation", "Unknown", "Running", ""),
        ("MachineOperation", "False", "TimedOut", "MachineOperationFailed"),
        ("DemoVolume", "False", "WaitingForConsumer", ""),
        ("DemoVolume", "False", "ClaimLost", "DemoVolumeLost"),
        ("Appoperator", "False", "RolledBack", "ResourceNotReady"),
        ("Appoperator", "False", "PodsNotReady", "AppoperatorDown"),
        ("EtcdCluster", "False", "MembersUnhealthy", "ResourceNotReady"),
        ("EtcdCluster", "False", "NoQuorum", "EtcdClusterNoQuorum"),
        ("EtcdCluster", "False", "QuorumLost", "EtcdClusterLost"),
        ("EtcdCluster", "False", "DataLost", "EtcdClusterLost"),
    ],
)
def test_one_alert_calls_for_each_state_that_needs_a_person(
    kind: str, status: str, reason: str, called: str
) -> None:
    assert alerts_when(kind, Ready=(status, reason)) == {called} - {""}


@pytest.mark.parametrize(
    ("status", "reason", "called"),
    [
        ("True", "BackedUp", set()),
        ("Unknown", "NotPlanned", set()),
        ("False", "BackupFailed", {"EtcdClusterNotBackedUp"}),
        ("False", "BackupOverdue", {"EtcdClusterNotBackedUp"}),
    ],
)
def test_healthy_cluster_without_a_new_backup_calls(
    status: str, reason: str, called: set[str]
) -> None:
    said = alerts_when("EtcdCluster", Ready=("True", "Healthy"), BackedUp=(status, reason))
    assert said == called


def test_role_that_never_settles_calls() -> None:
    rows = {"Ready": ("True", "AllReady"), "NotConverging": ("True", "TaskChanges")}
    assert alerts_when("PodSet", **rows) == {"ResourceNeverSettles"}


@pytest.mark.parametrize(("kind", "conditions", "alert", "after_s"), TIMES)
def test_alert_fires_once_its_condition_held_that_long_and_starts_over_after_a_good_moment(
    kind: str, conditions: dict[str, tuple[str, str]], alert: str, after_s: float
) -> None:
    bad, good = exposition_when(kind, **conditions), exposition_when(kind, Ready=("True", "Good"))
    evaluated, fires = Evaluated(), {(alert, "x")}
    assert evaluated.at(0, bad) == (set() if after_s else fires)
    if after_s:
        assert evaluated.at(after_s - 1, bad) == set()
    assert evaluated.at(after_s, bad) == fires
    assert evaluated.at(after_s + 1, good) == set()
    assert evaluated.at(after_s + 2, bad) == (set() if after_s else fires)
    assert evaluated.at(2 * after_s + 2, bad) == fires


def test_each_alert_of_kinds_is_evaluated_over_time() -> None:
    assert {alert for _, _, alert, _ in TIMES} == {rule["alert"] for rule in rules(KINDS)}


def test_another_reason_does_not_start_the_time_of_not_ready_again() -> None:
    evaluated = Evaluated()
    for minute in range(15):
        reason = ("BackOff", "ImagePullBackOff")[minute % 2]
        now = exposition_when("PodSet", Ready=("False", reason))
        assert evaluated.at(60 * minute, now) == set()
    assert evaluated.at(15 * 60, now) == {("ResourceNotReady", "x")}


def test_reasons_that_alerts_name_are_those_that_kinds_have() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "kinds").glob("*.md"))
    for rule in rules(KINDS):
        for reasons in re.findall(r'reason[=!]~?"([^"]+)"', rule["expr"]):
            assert all(f"`{reason}`" in pages for reason in reasons.split("|")), rule["alert"]


def test_page_says_of_every_alert_what_to_do_and_of_no_other() -> None:
    names = {rule["alert"] for path in (KINDS, OPERATOR) for rule in rules(path)}
    names |= set(re.findall(r"- name: (\w+)", ETCD.read_text()))
    assert set(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == names


def test_alerts_about_the_operator_ask_for_metrics_that_it_has() -> None:
    own = {spec.name for spec in NAMES}
    own |= {spec.name for extension in extension_classes() for spec in extension.metrics}
    for rule in rules(OPERATOR):
        named = set(re.findall(r"\b(?:rolecall|leader|rest)_\w+", rule["expr"]))
        assert named and named <= own, rule["alert"]
