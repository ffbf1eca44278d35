"""Alert rules, asked about what an engine exports: as much of PromQL as our rules for kinds use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
KINDS = ROOT / "config" / "alerts" / "kinds.yaml"
OPERATOR = ROOT / "config" / "prometheus" / "rules.yaml"
ETCD = ROOT / "roles" / "etcdcluster" / "vars" / "main" / "alerts.yml"

Labels = dict[str, str]
_EXPRESSION = re.compile(
    r"(?:min|max) by \(([\w, ]+)\)\s*\((\w+)\{([^}]*)\}\) (==|<) (\d)\s*", re.DOTALL
)
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
_SAMPLE = re.compile(r"^(\w+)\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def rules(path: Path) -> list[dict[str, Any]]:
    """All rules of a PrometheusRule."""
    groups = yaml.safe_load(path.read_text())["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


class Evaluated:
    """Rules of our kinds as Prometheus evaluates them over time, with the `for` of each.

    An alert fires once its expression was true, with the same labels, in each evaluation for that long.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}

    def at(self, now_s: float, exposition: str, **wanted: str) -> set[tuple[str, str]]:
        """Evaluate once; alerts that fire now, each with the name of the CR."""
        series = [
            (name, dict(_LABEL.findall(labels)), float(value))
            for name, labels, value in _SAMPLE.findall(exposition)
        ]
        active = {
            (rule["alert"], frozenset(labels.items())): seconds_of(rule)
            for rule in rules(KINDS)
            for labels in _holding(rule["expr"], series)
            if wanted.items() <= labels.items()
        }
        self._since = {alert: self._since.get(alert, now_s) for alert in active}
        return {
            (alert[0], dict(alert[1])["name"])
            for alert, since_s in self._since.items()
            if now_s - since_s >= active[alert]
        }


def seconds_of(rule: dict[str, Any]) -> float:
    """Its `for`: how long the expression must be true before the alert fires."""
    number, unit = re.fullmatch(r"(\d+)([smh])", rule.get("for", "0s")).groups()  # type: ignore[union-attr]
    return float(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def firing(exposition: str, **wanted: str) -> set[tuple[str, str]]:
    """Alerts of our kinds that fire where this stays so for a day, each with the name of the CR."""
    evaluated = Evaluated()
    evaluated.at(0, exposition, **wanted)
    return evaluated.at(86_400, exposition, **wanted)


def _holding(expression: str, series: list[tuple[str, Labels, float]]) -> Iterator[Labels]:
    """Labels for which the expression is true. There is one series of a type for each CR."""
    found = _EXPRESSION.fullmatch(expression)
    assert found, f"this needs more of PromQL than is known here: {expression}"
    kept, metric, matchers, sign, bound = found.groups()
    for name, labels, value in series:
        is_meant = all(_matches(labels, *each) for each in _MATCHER.findall(matchers))
        if name == metric and is_meant and _compare(value, sign, float(bound)):
            yield {label: labels.get(label, "") for label in kept.split(", ")}


def _matches(labels: Labels, name: str, sign: str, wanted: str) -> bool:
    has = labels.get(name, "")
    is_match = bool(re.fullmatch(wanted, has)) if "~" in sign else has == wanted
    return is_match is not sign.startswith("!")


def _compare(value: float, sign: str, bound: float) -> bool:
    return value == bound if sign == "==" else value < bound
