"""`rolecall doctor` as a person sees it, in a narrow terminal and in a wide one."""

from __future__ import annotations

import re

import pytest

from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import BEHAVIOURS
from tests.e2e.terminal import AtTerminal


@pytest.mark.parametrize("width", [80, pytest.param(200, marks=pytest.mark.nightly)])
def test_lines_fit_and_say_what_to_do(cluster: Cluster, width: int) -> None:
    view = AtTerminal(("doctor",), BEHAVIOURS, width, KUBECONFIG=str(cluster.kubeconfig))
    try:
        code = view.wait()
        lines = view.lines
        states = [match[0] for line in lines if (match := re.match(r"ok |do |-  ", line))]
        # A path is not broken, so that it can be copied.
        assert [line for line in lines if len(line) > width and " " in line.strip()] == []
        assert code == (1 if "do " in states else 0)
        assert lines[0].startswith("cluster: ")
        assert lines[0].endswith(f", {cluster.url}")
        assert lines[1].startswith(f"ok  cluster       {cluster.url} answers")
        assert view.line_with("clock").startswith("ok ")
        assert "is not served by the cluster" in " ".join(" ".join(lines).split())
        assert "\x1b[32mok " in view.said
    finally:
        view.end()


@pytest.mark.nightly
def test_without_colours_nothing_is_coloured(cluster: Cluster) -> None:
    settings = {"KUBECONFIG": str(cluster.kubeconfig), "NO_COLOR": "1"}
    view = AtTerminal(("doctor",), BEHAVIOURS, 80, **settings)
    try:
        view.wait()
        assert "\x1b" not in view.said
    finally:
        view.end()
