"""`rolecall run-role`: roles of CRs, without an operator: the quickest loop there is.

The CR is one of the cluster (KIND/NAME) or of a file (`--cr`). The role gets what the operator would
give it, with the rights of the user's own kubeconfig. Where the CR exists in the cluster, what the play
creates is owned by it, as under the operator; conditions are not written. What the play prints goes to
stdout as it comes, what the verb has to say goes to stderr.

With `--until`, all roles are run again until they have nothing left to do: the proof of idempotence
that a scenario needs.

Exit codes: 0 the play succeeded, 1 a task failed, 2 bad input or a play that could not run, 124 over a
time limit, 130 interrupted, 137 killed from outside.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from rolecall.cli import Subparsers, command_parser, settings_of
from rolecall.errors import InputError
from rolecall.kube import Credentials, CredentialsError
from rolecall.lifecycle import watches_of, with_search_paths
from rolecall.runner import (
    extra_vars,
    folder_of_command,
    require_installed,
    terms_of,
)
from rolecall.settings import RunnerSettings, Settings
from rolecall.watches import Watch
from rolecall_dev.cli.crs import (
    FoundCr,
    as_the_operator_sees,
    create,
    current_namespace,
    is_ending,
    kubeconfig_of,
    parse_named,
    read_cr,
    read_named,
)
from rolecall_dev.cli.project_arguments import add_watches_file
from rolecall_dev.cli.role_access import RoleAccess
from rolecall_dev.cli.role_output import RoleRequest, Terminal, say
from rolecall_dev.cli.role_turns import GOALS, Goal, run_roles
from rolecall_dev.cli.vars_text import as_json, as_yaml


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "run-role",
        run_role,
        "Run the role or playbook that watches.yaml names for a CR's kind, with"
        " your own kubeconfig (KUBECONFIG, else ~/.kube/config). Where the CR exists in the cluster,"
        " the play sees it as it is there (with the spec of the file, if there is one), and what it"
        " creates is owned by it. Conditions are not written.",
        examples={
            "rolecall run-role website/shop --check --diff": "show what would change",
            "rolecall run-role --cr config/samples/shop.yaml --create": "create the CR, then run",
            "rolecall run-role website/shop --until settled": "run until no role asks for more",
        },
        epilog="Variables such as ANSIBLE_ROLES_PATH, ANSIBLE_GATHERING and ROLECALL_ANSIBLE_ARGS mean"
        " what they mean to `rolecall run`. Exit codes: 0 succeeded, 1 a task failed, 2 bad input or a"
        " broken play, 124 over a time limit, 130 interrupted, 137 killed.",
    )
    _add_crs(parser)
    add_watches_file(parser)
    parser.add_argument(
        "--namespace",
        "-n",
        help="for a CR that names none (default: as kubectl would take it); empty for a kind that has"
        " no namespaces",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing, say what would change"
    )
    parser.add_argument("--diff", action="store_true", help="show what changes")
    parser.add_argument(
        "--finalizer", action="store_true", help="run what runs when the CR is deleted"
    )
    _add_goal(parser)
    parser.add_argument(
        "--print-vars",
        nargs="?",
        const="yaml",
        choices=("yaml", "json"),
        help="print the extra vars that the play would get, and run nothing",
    )
    parser.add_argument(
        "--explain-speed",
        action="store_true",
        help="run it warm, and list each task with its time, how it was started, and why",
    )
    parser.add_argument(
        "--artifacts-dir",
        type=Path,
        metavar="DIR",
        help="keep the run's files here (default: nowhere)",
    )
    parser.add_argument("-v", dest="verbosity", action="count", default=0, help="Ansible's -v")


def _add_crs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "named",
        nargs="*",
        metavar="KIND/NAME",
        help="a CR in the cluster. Several: one role after the other, warm",
    )
    parser.add_argument(
        "--cr",
        default=[],
        action="append",
        metavar="FILE",
        help="a CR in a file; `-` reads stdin; may be given again",
    )
    parser.add_argument(
        "--create",
        action="store_true",
        help="create the CR of the file first where the cluster has none, so that it owns what the play"
        " makes",
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="make the CR own, too, what its role writes and finds without an owner",
    )


def _add_goal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--until",
        choices=GOALS,
        help="run all of them again until nothing changes, or (settled) until no role asks for another"
        " run either",
    )
    parser.add_argument(
        "--within",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="give up then, with exit code 124 (%(default)g)",
    )


def run_role(arguments: argparse.Namespace) -> int:
    environment = dict(os.environ)
    settings, warnings = settings_of([], environment)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    settings = replace(settings, watches_file=arguments.watches_file)
    _refuse_nonsense(arguments)
    watches = watches_of(settings, environment)
    requests = [_request(found, arguments, environment) for found in _found(arguments, watches)]
    if arguments.print_vars:
        variables = extra_vars(requests[0], trust_cr_text=settings.runner.trust_cr_text)
        printed = as_json if arguments.print_vars == "json" else as_yaml
        print(printed(variables.values).rstrip())
        return 0
    for warning in require_installed():
        print(f"warning: {warning}", file=sys.stderr)
    runner = with_search_paths(settings, environment, watches).runner
    runner = _runner_settings(runner, arguments, environment)
    return _run(requests, replace(settings, runner=runner), arguments)


def _refuse_nonsense(arguments: argparse.Namespace) -> None:
    if arguments.until and arguments.check:
        raise InputError("`--check` changes nothing, so `--until` would wait for ever")
    asked = len(arguments.cr) + len(arguments.named)
    if not asked:
        raise InputError("no CR was named", hint="write KIND/NAME, or `--cr FILE`")
    if arguments.print_vars and asked > 1:
        raise InputError("`--print-vars` is about one CR; name one")
    if arguments.create and not arguments.cr:
        raise InputError("`--create` creates the CR of a file; add `--cr FILE`")
    if arguments.create and (arguments.check or arguments.print_vars):
        raise InputError(
            "`--create` changes the cluster, which `--check` and `--print-vars` do not"
        )


def _found(arguments: argparse.Namespace, watches: list[Watch]) -> list[FoundCr]:
    """The CRs that were asked for: those of the cluster, then those of files."""
    environment = dict(os.environ)
    namespace = _namespace(arguments, environment)
    named = [parse_named(text, watches) for text in arguments.named]
    filed = [_in_namespace(*read_cr(file, watches), namespace) for file in arguments.cr]
    if named or arguments.create or not arguments.print_vars:
        _say_cluster(environment, is_needed=bool(named or arguments.create))
    found = asyncio.run(read_named(named, namespace, environment)) if named else []
    if arguments.create and filed:
        for place in asyncio.run(create(filed, environment)):
            say(f"created {place}")
    for one in found:
        for note in one.notes:
            say(f"note: {one.watch.gvk.kind}/{one.cr['metadata']['name']}: {note}")
    return [*found, *(FoundCr(cr, watch) for cr, watch in filed)]


def _in_namespace(cr: dict[str, Any], watch: Watch, namespace: str) -> tuple[dict[str, Any], Watch]:
    if not namespace:
        return cr, watch
    return {**cr, "metadata": {"namespace": namespace, **cr["metadata"]}}, watch


def _request(
    found: FoundCr, arguments: argparse.Namespace, environment: Mapping[str, str]
) -> RoleRequest:
    watch = found.watch
    is_finalizer = arguments.finalizer or is_ending(found)
    if is_finalizer and not arguments.finalizer:
        name = f"{watch.gvk.kind}/{found.cr['metadata']['name']}"
        say(f"note: {name} is being deleted: its finalizer runs, and stays on it")
    return RoleRequest(
        run_id="",  # each run gets one of its own
        terms=terms_of(replace(watch, runner=None), is_finalizer=is_finalizer),
        watch=watch,
        cr=as_the_operator_sees(found.cr, watch, is_finalizer=is_finalizer),
        is_finalizer=is_finalizer,
        kubeconfig=kubeconfig_of(environment, is_needed=not arguments.print_vars),
        verbosity=arguments.verbosity,
        keep_artifacts=0,
        timeout_s=watch.run_timeout_s,
        no_progress_timeout_s=watch.no_progress_timeout_s,
    )


def _run(requests: list[RoleRequest], settings: Settings, arguments: argparse.Namespace) -> int:
    goal = Goal(arguments.until == "settled", arguments.within) if arguments.until else None
    with ExitStack() as stack:
        kept: Path | None = arguments.artifacts_dir
        root = kept.absolute() if kept else stack.enter_context(folder_of_command())
        runner = replace(settings.runner, root=root)
        terminal = Terminal(arguments)
        proxy = replace(settings.proxy, adopts=arguments.adopt)
        access = RoleAccess(os.environ, terminal.unowned, proxy)
        work = run_roles(requests, runner, goal, terminal, access)
        return asyncio.run(work)


def _say_cluster(environment: Mapping[str, str], *, is_needed: bool) -> None:
    """Before anything is asked of it; a role that needs none runs without it, too."""
    try:
        say(f"cluster: {Credentials.load(environment).target}")
    except CredentialsError:
        if is_needed:
            raise


def _runner_settings(
    settings: RunnerSettings, arguments: argparse.Namespace, environment: Mapping[str, str]
) -> RunnerSettings:
    added = [flag for flag in ("check", "diff") if getattr(arguments, flag)]
    quoted = settings.ansible_args.strip("'")
    colours = sys.stdout.isatty() and "NO_COLOR" not in environment
    return replace(
        settings,
        way=_way(settings, arguments),
        ansible_args=" ".join([quoted, *(f"--{flag}" for flag in added)]).strip(),
        environment={"ANSIBLE_FORCE_COLOR": "1"} if colours else {},
    )


def _way(settings: RunnerSettings, arguments: argparse.Namespace) -> str:
    """One run pays the start of a warm host and gains nothing from it but the explanation."""
    if arguments.explain_speed:
        return "warm"
    return settings.way if arguments.until or len(arguments.cr) > 1 else "stock"


def _namespace(arguments: argparse.Namespace, environment: Mapping[str, str]) -> str:
    """For a CR that names none."""
    named = arguments.namespace
    return current_namespace(environment) if named is None else str(named)
