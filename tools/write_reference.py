"""Write the reference pages that are made from code: flags, environment, metrics.

Why: a page written by hand is wrong after the next flag. What: `PAGES`, in docs/reference.
How: `python -m tools.write_reference`; a test fails when a page and the code differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from rolecall.extending import extension_metrics
from rolecall.metrics import NAMES, MetricSpec
from rolecall.settings import Flag, flag_groups
from rolecall_dev.checks import conversions_schema
from tools.commands_page import commands_page
from tools.conversions_page import conversions_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
_MADE = "<!-- Made by tools/write_reference.py; edit the code instead. -->"

# What the engine reads beside ROLECALL_*; kept here since it is prose, not structure.
_VARIABLES = (
    ("WATCH_NAMESPACE", "namespaces to watch, separated by commas; unset or empty: all of them"),
    ("OPERATOR_NAME", "deprecated: name of the Lease where `--leader-election-id` is not given"),
    (
        "MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP>",
        "runs in flight of one kind; goes before `--max-concurrent-reconciles`",
    ),
    ("WORKER_<KIND>_<GROUP>", "deprecated name of the previous; read only where that is absent"),
    (
        "ANSIBLE_VERBOSITY_<KIND>_<GROUP>",
        "how many `v` plays of one kind are given, 0 to 7; goes before `--ansible-verbosity`",
    ),
    (
        "ANSIBLE_VERBOSITY",
        "above 0: print what plays print instead of a log line for each task; it is also how many `v`"
        " plays are given where `--ansible-verbosity` is not",
    ),
    (
        "ANSIBLE_DEBUG_LOGS",
        "`true`: print the whole output of each play after its run",
    ),
    (
        "ANSIBLE_GATHERING",
        "`explicit`: plays made for roles gather no facts (default: `gathering` of the project's"
        " ansible.cfg)",
    ),
    ("ANSIBLE_INVENTORY", "a file or folder that replaces the inventory made for each run"),
    (
        "ANSIBLE_ROLES_PATH",
        "where roles are looked up; `--ansible-roles-path` goes first, `roles/` beside watches.yaml"
        " last",
    ),
    (
        "ANSIBLE_COLLECTIONS_PATH",
        "where collections are looked up; `--ansible-collections-path` goes first, `.collections/` and"
        " `collections/` beside watches.yaml last",
    ),
    (
        "ROLECALL_RELAYED",
        "set by commands that run themselves in a pod: the terminal at the other end, or that there is"
        " none",
    ),
    ("NO_COLOR", "if set, commands print no colours"),
    ("VIRTUAL_ENV", "if set, plays run with its Python"),
    (
        "POD_NAME",
        "name of the engine's own pod, for Events that concern all kinds; unset: its host name",
    ),
    ("POD_NAMESPACE", "the namespace of that pod; unset: the one of the service account"),
    (
        "POD_UID",
        "its uid, for these Events where the engine may not read pods",
    ),
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "where traces are sent, by HTTP; needs `rolecall[otel]`. All other `OTEL_*` count as"
        " OpenTelemetry defines them; unset: no traces",
    ),
    ("KUBECONFIG", "how to reach the cluster; else the pod's service account, else ~/.kube/config"),
)


def flags_page() -> str:
    """Every flag of `rolecall run`."""
    lines = [
        "# Flags of `rolecall run`",
        "",
        _MADE,
        "",
        "Written with one dash or two, as `--flag=value` or `--flag value`. Flags of the type",
        "`true|false` mean true without a value, and take one only after `=`. Each flag can also be",
        "set by the environment variable in its row; a flag on the command line comes first."
        " Durations are",
        "written as in `300ms`, `1.5h`, `2h45m`.",
    ]
    for group in flag_groups():
        lines += ["", f"## {group.title.capitalize()}", ""]
        rows = ((f"`--{one.name}`", _type(one), _default(one), _help(one)) for one in group.flags)
        lines += _table(("flag", "type", "default", "meaning"), rows)
    return _page(lines)


def environment_page() -> str:
    """Every environment variable that the engine reads."""
    lines = [
        "# Environment variables",
        "",
        _MADE,
        "",
        "All other variables reach Ansible and the programs that it starts. In the names of",
        "variables for one kind, kind and group are in capitals, dots are underscores, dashes stay;",
        "for the core group the name ends with an underscore.",
        "",
    ]
    lines += _table(("variable", "meaning"), ((f"`{name}`", text) for name, text in _VARIABLES))
    lines += ["", "## In place of flags", ""]
    every = (flag for group in flag_groups() for flag in group.flags)
    lines += _table(
        ("variable", "flag"), ((f"`{one.variable}`", f"`--{one.name}`") for one in every)
    )
    return _page(lines)


def metrics_page() -> str:
    """Every metric of the engine."""
    lines = [
        "# Metrics",
        "",
        _MADE,
        "",
        "Served at `--metrics-bind-address`, path `/metrics`. Names without `rolecall_` are those of",
        "the Go operator, with its labels. There are also `process_*`, and metrics that roles set",
        "with `operator_sdk.util.osdk_metric`.",
        "",
    ]
    every = (*NAMES, *extension_metrics())
    rows = ((f"`{one.name}`", one.kind.value, _labels(one), one.help) for one in every)
    lines += _table(("metric", "type", "labels", "meaning"), rows)
    return _page(lines)


def conversions_schema_text() -> str:
    """For editors."""
    return json.dumps(conversions_schema(), indent=2, ensure_ascii=False) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "flags.md": flags_page,
    "environment.md": environment_page,
    "commands.md": commands_page,
    "conversions.md": conversions_page,
    "conversions.schema.json": conversions_schema_text,
    "metrics.md": metrics_page,
}


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    ruled = [head, tuple("---" for _ in head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in ruled]


def _type(flag: Flag) -> str:
    return ", ".join(f"`{one}`" for one in flag.choices) if flag.choices else flag.kind.value


def _default(flag: Flag) -> str:
    return f"`{flag.default}`" if flag.default else ""


def _help(flag: Flag) -> str:
    return f"deprecated: {flag.help}" if flag.alias_of else flag.help


def _labels(name: MetricSpec) -> str:
    return ", ".join(f"`{label}`" for label in name.labels)


def _page(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
