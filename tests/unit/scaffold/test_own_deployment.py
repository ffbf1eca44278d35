"""Our own deployment is the one that new projects get, so that neither is forgotten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from rolecall_dev.scaffold.templates import rendered

ROOT = Path(__file__).parents[3]
VALUES = {"project": "rolecall", "domain": "rolecall.dev", "version": "0.1.0"}
FOLDERS = (
    "default",
    "manager",
    "network-policy",
    "page",
    "prometheus",
    "replicas",
    "scorecard",
    "shards",
)
# New projects get them along with their first conversion, and with each kind.
OURS = {
    "config/default/kustomization.yaml": "components:\n  - ../webhooks\n",
    "config/page/kustomization.yaml": "  - page_reader_role.yaml\n",
}
RBAC = ("metrics_auth_role", "metrics_auth_role_binding", "metrics_reader_role")
SHARED = {
    path: content
    for path, content in rendered("init", VALUES).items()
    if path.startswith(tuple(f"config/{folder}/" for folder in FOLDERS))
    or path in {f"config/rbac/{name}.yaml" for name in RBAC}
}


@pytest.mark.parametrize("path", sorted(SHARED))
def test_file_is_the_one_of_new_projects(path: str) -> None:
    assert (ROOT / path).read_text() == SHARED[path] + OURS.get(path, "")


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:rolecall|controller_runtime|workqueue|leader_election)_\w+", text))


def test_alerts_and_panels_ask_for_metrics_that_exist() -> None:
    reference = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    known = set(re.findall(r"^\| `(\w+)`", reference, re.MULTILINE))
    folder = ROOT / "config" / "prometheus"
    rules = yaml.safe_load((folder / "rules.yaml").read_text())
    asked = [rule["expr"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    dashboard = json.loads((folder / "dashboard.json").read_text())
    asked += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(asked) > 10
    for expression in asked:
        names = metrics_in(expression)
        assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in names} <= known, expression
