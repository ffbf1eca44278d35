"""Roles that are run or planned by hand get what kubectl would take from the kubeconfig."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rolecall_dev.cli.crs import current_namespace, kubeconfig_of

CLUSTERS = """\
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: work, context: {cluster: c, namespace: shops}}]
"""


@pytest.mark.parametrize("order", [("missing", "current", "clusters"), ("clusters", "current")])
def test_files_of_kubeconfig_are_merged_for_the_namespace_too(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    (tmp_path / "current").write_text("current-context: work\n")
    (tmp_path / "clusters").write_text(CLUSTERS)
    named = os.pathsep.join(str(tmp_path / each) for each in order)
    assert current_namespace({"KUBECONFIG": named}) == "shops"
    assert str(kubeconfig_of({"KUBECONFIG": named})) == named


def test_without_a_context_it_is_default(tmp_path: Path) -> None:
    assert current_namespace({"KUBECONFIG": os.devnull, "HOME": str(tmp_path)}) == "default"
