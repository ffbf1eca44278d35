"""`rolecall test`: this folder's operator in the states between, on a local cluster of its own.

Findings go to stdout, since they are what was asked for; what it is at goes to stderr. Exit codes: 0
nothing was found, 1 something was or a known limit was not met, 2 what was asked for is not there, 5
nothing was found in too few cases.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import signal
import sys
from dataclasses import replace
from pathlib import Path

from rolecall.cli import Subparsers, command_parser
from rolecall.clock import SystemClock
from rolecall.documents import DurationError, parse_duration
from rolecall_dev.cli.progress import CaseProgress
from rolecall_dev.cli.rule_tests import run_rule_tests
from rolecall_dev.proving import (
    CHECKS,
    ProofReport,
    Wish,
    planned,
    prove,
    report_text,
    write_junit,
)
from rolecall_dev.staging import TrialCluster

FOUND = 1
NOT_KNOWN = 5  # as of `rolecall plan`
_MIN_REACHED = 50
_WHOLE = 100


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "test",
        run,
        "Starts a control plane with simulated nodes and the operator, and does to each"
        " sample what happens to CRs in clusters: requests fail, runs and the operator are killed,"
        " objects are edited and deleted by hand, fields get other values. What becomes of it is"
        " compared with what becomes of the same CR undisturbed. Exit codes: 0 nothing was found,"
        " 1 something was, or an entry of rolecall-test.yaml was not met, 2 what was asked for is not"
        " there, 5 nothing was found, but fewer cases were decided than --min-reached asks for.",
        examples={
            "rolecall test": "every sample, every check",
            "rolecall test --kind Website --budget 5m": "one kind, for five minutes",
            "rolecall test --list": "the checks",
        },
    )
    _add_what(parser)
    _add_how(parser)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind", action="append", default=[], help="test this kind only; may be repeated"
    )
    parser.add_argument(
        "--sample",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="test with the CRs of this file (default: all of config/samples); may be repeated",
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="NAME",
        help="only this check, see --list; may be repeated",
    )
    parser.add_argument(
        "--rules",
        nargs="*",
        metavar="ROLE",
        help="without a cluster, try the rule tables of these roles (default: all that have a"
        " rules_test.yml) in the states that are written there",
    )
    parser.add_argument("--list", action="store_true", help="list the checks, and test nothing")


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget",
        type=_seconds,
        metavar="DURATION",
        help="end after this time, such as 5m, whatever is under way; the most telling cases come"
        " first (default: no limit)",
    )
    parser.add_argument(
        "--min-reached",
        type=_percent,
        default=_MIN_REACHED,
        metavar="PERCENT",
        help="fail with exit code 5 where fewer of the cases were decided (default: %(default)s)",
    )
    parser.add_argument(
        "--from",
        dest="from_revision",
        default="",
        metavar="REVISION",
        help="for the check `upgrade`: what this project was at a git revision makes the CRs, and then"
        " this folder's takes over",
    )
    parser.add_argument("--seed", type=int, default=0, help="order of equal cases (default: 0)")
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="try one case again, from the file of a finding"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit, too")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        width = max(map(len, CHECKS))
        for check in CHECKS.values():
            print(f"{check.name:{width}}  {check.summary}")
        return 0
    if arguments.rules is not None:
        return run_rule_tests(Path.cwd(), arguments.rules, SystemClock())
    wish = Wish(
        Path.cwd(),
        kinds=arguments.kind,
        samples=[file.resolve() for file in arguments.sample],
        checks=arguments.check,
        budget_s=arguments.budget,
        seed=arguments.seed,
        replay=arguments.replay,
        from_revision=arguments.from_revision,
    )
    planned(wish)  # reports invalid input before a cluster is started
    # As Ctrl-C: engine and cluster have sessions of their own, and would stay.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return asyncio.run(_test(wish, arguments.junit, arguments.min_reached))
    except KeyboardInterrupt:
        return 130


async def _test(wish: Wish, junit: Path | None, min_reached: int) -> int:
    clock = SystemClock()
    began = clock.monotonic()
    progress = CaseProgress(sys.stderr, clock)
    async with TrialCluster.opened() as trial_cluster:
        progress.say(f"cluster: {trial_cluster.client.credentials.target}")
        if wish.budget_s is not None:
            # The cluster's start is part of it: who sets a limit sets it for the command.
            left_s = wish.budget_s - (clock.monotonic() - began)
            wish = replace(wish, budget_s=max(0.0, left_s))
        try:
            report = await prove(
                wish,
                trial_cluster=trial_cluster,
                say=progress.say,
                say_where=progress.say_where,
            )
        finally:
            progress.clear()
        # Before the cluster ends, which takes its time where the machine has much to do.
        print(report_text(report), flush=True)
        if junit is not None:
            write_junit(report, junit)
    code = exit_code_of(report, min_reached)
    if code == NOT_KNOWN:
        reached = math.floor(report.share * _WHOLE)
        progress.say(
            f"{reached} % of the cases were decided, fewer than {min_reached} %, so this says little"
            " of the operator; give it a longer --budget, or lower --min-reached"
        )
    return code


def exit_code_of(report: ProofReport, min_reached: int = _MIN_REACHED) -> int:
    """A known limit that nothing meets hides the next fault of its case, so it fails as well.

    `min_reached`: the per cent of the cases that must be decided for finding nothing to mean anything.
    """
    if report.findings or report.limits_not_met:
        return FOUND
    return NOT_KNOWN if report.share * _WHOLE < min_reached else 0


def _percent(text: str) -> int:
    if not text.isdecimal() or int(text) > _WHOLE:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 to 100")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except DurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
