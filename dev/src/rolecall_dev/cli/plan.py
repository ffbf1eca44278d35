"""`rolecall plan`: what the roles of some CRs would change, found by running them where nothing is
kept.

The roles run unchanged, as the operator would run them now, with the user's own kubeconfig; what they
write goes to the API server as dry runs. With `--project`, another version of the roles runs against
the CRs that are there: the preview of an upgrade.

A command for developers, like `run-role`: it runs the project of this folder. A deployed operator
reports what it would do in `mode: observe`.

Exit codes, as `kubectl diff`: 0 nothing would change, 1 something would, above 1 a plan could not be
made, or did not come to its end, or (5) does not know all that the run would do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from rolecall.cli import Subparsers, command_parser, settings_of, variables_with_cluster
from rolecall.errors import InputError
from rolecall.kube import Credentials
from rolecall.lifecycle import watches_of, with_search_paths
from rolecall.plan import PlannedRun
from rolecall.runner import require_installed
from rolecall.settings import Settings
from rolecall_dev.cli.plan_output import PlanWords, as_json
from rolecall_dev.cli.plan_runs import AskedCrs, SkippedCr, made_plans
from rolecall_dev.cli.project_arguments import add_watches_file
from rolecall_dev.cli.role_output import say

_NOTHING, _SOMETHING, _TROUBLE, _UNKNOWN = 0, 1, 2, 5


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "plan",
        plan,
        "Run the roles of CRs, unchanged, in a world of their own: reads come from the"
        " cluster, writes are dry runs at the API server, later reads see them, nothing is kept. Tasks"
        " that do more than ask the API server run in Ansible's check mode, or are skipped and shown.",
        examples={
            "rolecall plan website/shop": "what a run would change now",
            "rolecall plan --cr edited.yaml": "what an edited CR would change",
            "rolecall plan --all -o json": "all CRs, for a program",
        },
        epilog="Exit codes: 0 nothing would change, 1 something would, 2 a role failed or the input is"
        " wrong, 3 the cluster refused, 5 unknown: something was not looked at. 5 comes before 0 and"
        " 1.",
    )
    parser.add_argument("named", nargs="*", metavar="KIND/NAME", help="a CR in the cluster")
    parser.add_argument(
        "--cr",
        default=[],
        action="append",
        metavar="FILE",
        help="a CR in a file, new or edited; `-` reads stdin; may be given again",
    )
    parser.add_argument("--all", action="store_true", help="all CRs that the project watches")
    parser.add_argument(
        "--project",
        type=Path,
        metavar="DIR",
        help="the project whose watches and roles run (default: this folder)",
    )
    add_watches_file(parser)
    parser.add_argument(
        "--namespace",
        "-n",
        help="for a CR that names none (default: as kubectl would take it); with `--all`, the only"
        " namespace to look in (default: all)",
    )
    parser.add_argument(
        "--finalizer", action="store_true", help="plan what runs when the CR is deleted"
    )
    parser.add_argument(
        "--output", "-o", choices=("text", "json"), default="text", help="(default: %(default)s)"
    )


def plan(arguments: argparse.Namespace) -> int:
    _refuse_nonsense(arguments)
    environment = variables_with_cluster(os.environ)
    files = [name if name == "-" else str(Path(name).absolute()) for name in arguments.cr]
    with chdir(arguments.project or Path()):
        settings, warnings = settings_of([], environment)
        for warning in warnings:
            print(f"warning: {warning}", file=sys.stderr)
        settings = replace(settings, watches_file=arguments.watches_file)
        watches = watches_of(settings, environment)
        for warning in require_installed():
            print(f"warning: {warning}", file=sys.stderr)
        runner = with_search_paths(settings, environment, watches).runner
        say(f"cluster: {Credentials.load(environment).target}")
        asked = AskedCrs(
            environment,
            watches,
            named=arguments.named,
            files=files,
            is_all=arguments.all,
            namespace=arguments.namespace,
            is_finalizer=arguments.finalizer,
        )
        return _planned(asked, replace(settings, runner=runner), arguments)


def _refuse_nonsense(arguments: argparse.Namespace) -> None:
    if arguments.project is not None and not arguments.project.is_dir():
        raise InputError(f"the project `{arguments.project}` is not a folder")
    if arguments.all and (arguments.named or arguments.cr):
        raise InputError("`--all` plans all CRs; name none beside it")
    if arguments.all and arguments.finalizer:
        raise InputError("`--finalizer` is about single CRs; name them")
    if not (arguments.all or arguments.named or arguments.cr):
        raise InputError("no CR was named", hint="write KIND/NAME, `--cr FILE`, or `--all`")


def _planned(asked: AskedCrs, settings: Settings, arguments: argparse.Namespace) -> int:
    is_json = arguments.output == "json"
    text = PlanWords(sys.stdout, is_fleet=arguments.all)
    plans: list[PlannedRun] = []

    def on_plan(made: PlannedRun | SkippedCr) -> None:
        if isinstance(made, SkippedCr):
            say(f"note: {made.title}: {made.why}")
            return
        plans.append(made)
        if not is_json:
            text.show(made)

    asyncio.run(made_plans(asked, settings, on_plan))
    if is_json:
        print(json.dumps(as_json(plans), indent=2))
    else:
        text.conclude(plans)
    if any(made.failure for made in plans):
        return _TROUBLE
    if not all(made.is_sure for made in plans):
        return _UNKNOWN
    return _NOTHING if all(made.is_empty for made in plans) else _SOMETHING
