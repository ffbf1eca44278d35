"""`rolecall doctor`: each thing that an operator needs here is fine, or what to do about it.

Exit codes: 0 where all is fine, 1 where something must be done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from rolecall.cli import Subparsers, command_parser, settings_of
from rolecall.errors import RolecallError
from rolecall.kube import Credentials
from rolecall.lifecycle import watches_of
from rolecall_dev.cli.project_arguments import add_watches_file
from rolecall_dev.cli.role_output import say
from rolecall_dev.doctor import (
    LOOKS,
    UNINSTALL_LOOKS,
    Diagnosis,
    DiagnosisState,
    Look,
    Surroundings,
    examine,
)

_COLOURS = {DiagnosisState.OK: "32", DiagnosisState.TO_DO: "31", DiagnosisState.NOT_LOOKED: "2"}
_INDENT = 18


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "doctor",
        run,
        "Looks at ports, collections, versions, the way of runs, the cluster, rights,"
        " webhooks, clocks, the artifacts folder and the leader, as `rolecall run` in this folder would"
        " meet them. Flags of `rolecall run` are read from the environment (ROLECALL_PROXY_PORT=0).",
        examples={
            "rolecall doctor": "as your own user",
            "rolecall doctor --as system:serviceaccount:web-system:web": "with the operator's rights",
            "rolecall doctor --uninstall": "before the operator is removed",
        },
        epilog="Exit codes: 0 all is fine, 1 something must be done.",
    )
    add_watches_file(parser)
    parser.add_argument(
        "--as",
        dest="user",
        default="",
        metavar="USER",
        help="whose rights to look at, such as system:serviceaccount:NAMESPACE:NAME; default: those of"
        " the kubeconfig",
    )
    parser.add_argument(
        "--uninstall",
        action="store_true",
        help="instead, list what an uninstall of the operator leaves behind: CRs with its finalizer,"
        " which can no longer be deleted, CRDs, rights, webhooks, Leases and claims",
    )
    parser.add_argument("-o", "--output", choices=("people", "json"), default="people")


def run(arguments: argparse.Namespace) -> int:
    """Look, print, and say by the exit code whether something must be done."""
    with suppress(RolecallError):  # the look at the cluster reports it
        say(f"cluster: {Credentials.load(os.environ).target}")
    surroundings = _surroundings(arguments)
    printed = _print_json if arguments.output == "json" else _print_lines
    looks = UNINSTALL_LOOKS if arguments.uninstall else LOOKS
    return 0 if asyncio.run(printed(surroundings, looks)) else 1


def _surroundings(arguments: argparse.Namespace) -> Surroundings:
    environment = dict(os.environ)
    settings, _warnings = settings_of([], environment)
    settings = replace(settings, watches_file=arguments.watches_file)
    fault: RolecallError | None = None
    watches = []
    try:
        watches = watches_of(settings, environment)
    except RolecallError as error:
        fault = error
    project = (Path.cwd() / settings.watches_file).parent
    return Surroundings(settings, watches, fault, environment, project, arguments.user)


async def _print_lines(surroundings: Surroundings, looks: Sequence[Look]) -> bool:
    is_fine = True
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    async for name, seen in examine(surroundings, looks, on_bug=_print_trace):
        for diagnosis in seen:
            is_fine = is_fine and diagnosis.state is not DiagnosisState.TO_DO
            print(_line(name, diagnosis, is_coloured=is_coloured), flush=True)
    return is_fine


async def _print_json(surroundings: Surroundings, looks: Sequence[Look]) -> bool:
    rows: list[dict[str, Any]] = []
    async for name, seen in examine(surroundings, looks, on_bug=_print_trace):
        rows += [
            {
                "look": name,
                "state": row.state.name.lower(),
                "what": row.what,
                "way_out": row.way_out,
            }
            for row in seen
        ]
    is_fine = all(row["state"] != "to_do" for row in rows)
    print(json.dumps({"ok": is_fine, "looks": rows}, indent=2))
    return is_fine


def _line(name: str, diagnosis: Diagnosis, *, is_coloured: bool) -> str:
    state = f"{diagnosis.state.value:<3}"
    if is_coloured:
        state = f"\033[{_COLOURS[diagnosis.state]}m{state}\033[0m"
    text = _wrapped(diagnosis.what)
    if diagnosis.way_out and diagnosis.state is DiagnosisState.TO_DO:
        text += "\n" + " " * _INDENT + _wrapped(f"-> {diagnosis.way_out}")
    return f"{state} {name:<13} {text}"


def _wrapped(text: str) -> str:
    text = "".join(each if each.isprintable() else "?" for each in text)  # others may have named it
    width = max(get_terminal_size().columns - _INDENT, 20)
    if not sys.stdout.isatty():
        return text
    rows = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * _INDENT).join(rows)


def _print_trace(trace: str) -> None:
    print(trace, file=sys.stderr)
