"""Findings that a project accepts, each with the reason: its `rolecall-test.yaml`.

A limit is reported with its reason, and does not fail the test. Lists of accepted faults rot, so an
entry that nothing meets fails the test, and an entry is refused that has no reason, that does not say
what is found, that accepts any case or any status, or that is for an unknown kind or check.

Rejected: a mark on the sample, which is for people who copy it; and the hash of a finding, which says
nothing in a review.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.documents import Fields, Form, MapList, Report, YamlKey, expand, read_maps, read_text
from rolecall.errors import ProblemsError
from rolecall_dev.proving.model import Case, CaseProblem

KNOWN_LIMITS_FILE = Path("rolecall-test.yaml")
LIMIT_KEYS = (
    YamlKey("kind", Form.TEXT, "", "kind of the sample, as in watches.yaml", is_required=True),
    YamlKey("check", Form.TEXT, "", "the check that finds it, such as `edits`", is_required=True),
    YamlKey(
        "case",
        Form.TEXT,
        "",
        "the case, as the report has it after the check; `*` is any text",
        is_required=True,
    ),
    YamlKey(
        "found",
        Form.TEXTS,
        "",
        "each line of what was found begins like one of these; `*` is any text",
        is_required=True,
    ),
    YamlKey("reason", Form.TEXT, "", "why this is accepted", is_required=True),
)
_LIST = MapList(
    entry="`kind`, `check`, `case`, `found`, `reason`",
    first="kind",
    empty="accepts nothing",
    wanted="`kind`, `check`, `case`, `found`, `reason`, or remove the file",
)


@dataclass(frozen=True, slots=True)
class KnownLimit:
    """One entry of the file."""

    kind: str
    check: str
    case: str
    found: tuple[str, ...]
    reason: str
    place: str  # `rolecall-test.yaml:7`

    def covers(self, case: Case, problem: CaseProblem) -> bool:
        if (case.subject.partition("/")[0], case.check) != (self.kind, self.check):
            return False
        return _matches(self.case, case.reported) and all(map(self._accepts, problem.lines))

    def _accepts(self, line: str) -> bool:
        return any(_matches(f"{each}*", line) for each in self.found)

    @property
    def shown(self) -> str:
        found = "".join(f", `{each}`" for each in self.found)
        return f"{self.kind}: {self.check}: `{self.case}`{found}"


@dataclass(frozen=True, slots=True)
class MetLimit:
    """A finding that is covered by one."""

    case: str  # its name
    reported: str
    limit: KnownLimit

    def __str__(self) -> str:
        return f"{self.case}: {self.reported}\n    known limit: {self.limit.reason}"


def load_known_limits(
    project: Path, kinds: Collection[str], checks: Collection[str]
) -> tuple[KnownLimit, ...]:
    """Those of the project, none where it has no such file; `ProblemsError` with all that is wrong."""
    file = project / KNOWN_LIMITS_FILE
    if not file.is_file():
        return ()
    report = Report(str(KNOWN_LIMITS_FILE))
    text = read_text(file, report, hint="make it readable, or remove it")
    report.located_in(expand(text or "", {}))  # as it is: nothing of the environment belongs here
    nodes = [] if text is None else read_maps(text, report, _LIST)
    limits = [_read_entry(node, report, kinds, checks) for node in nodes]
    if report.has_errors:
        raise ProblemsError(report.in_order())
    return tuple(limits)


def covering(limits: Sequence[KnownLimit], case: Case, problem: CaseProblem) -> KnownLimit | None:
    """The first that covers it."""
    return next((each for each in limits if each.covers(case, problem)), None)


def _read_entry(
    node: yaml.MappingNode, report: Report, kinds: Collection[str], checks: Collection[str]
) -> KnownLimit:
    fields = Fields(node, LIMIT_KEYS, report, is_strict=True)
    found = tuple(fields.texts("found"))
    _check_found(found, fields, report)
    required = [key for key in LIMIT_KEYS if key.is_required and key.form is Form.TEXT]
    values = {key.name: fields.text(key.name).strip() for key in required}
    for key in required:
        if not values[key.name]:
            line = fields.line_of(key.name)
            report.error(line, f"`{key.name}` is missing: {key.meaning}")
    for name, known in (("kind", kinds), ("check", checks)):
        if values[name] and values[name] not in known:
            report.error(
                fields.line_of(name),
                f"{name} `{values[name]}` is not there, so this entry can accept nothing",
                hint=f"there are {', '.join(known)}",
            )
    if values["case"] and not values["case"].strip("* "):
        report.error(
            fields.line_of("case"),
            f"`case` is `{values['case']}`, which accepts every case of the check",
            hint="name the case, or the part that its cases have in common",
        )
    return KnownLimit(**values, found=found, place=f"{report.file}:{fields.line}")


def _check_found(found: Sequence[str], fields: Fields, report: Report) -> None:
    line = fields.line_of("found")
    if not found:
        report.error(
            line,
            "`found` is missing, so whatever the case finds would be accepted",
            hint="copy the lines below `found:` of the report; `*` is any text",
        )
    for text in found:
        path = text.strip("* ")
        if not path:
            report.error(line, f"`found` has `{text}`, which accepts everything")
        elif path.rpartition(" ")[2].endswith(".status"):
            report.error(
                line,
                f"`found` has `{text}`, which accepts any wrong status",
                hint="name the field, such as `.status.replicas`",
            )


def _matches(pattern: str, text: str) -> bool:
    """Rejected: fnmatch, for which the brackets of a path such as `ports[0]` are a set of letters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
