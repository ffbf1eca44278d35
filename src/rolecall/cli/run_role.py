"""`rolecall run-role`: one CR's role, once, without an operator: the quickest loop there is.

The role gets what the operator would give it, with the rights of the user's own kubeconfig. Where the
CR exists in the cluster, what the play creates is owned by it, as under the operator; conditions are
not written. What the play prints goes to stdout as it comes, what the verb has to say goes to stderr.

Exit codes: 0 the play succeeded, 1 a task failed, 2 bad input or a play that could not run, 124 over a
time limit, 130 interrupted, 137 killed from outside.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rolecall.cli.cr_file import read_cr
from rolecall.cli.flag_parser import choose
from rolecall.cli.project_arguments import add_watches_file
from rolecall.cli.role_access import access_for
from rolecall.cli.role_speed import explain
from rolecall.cli.settings_from import settings_from
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.runner import (
    Ending,
    RunEvent,
    RunRequest,
    RunResult,
    TaskFailure,
    as_json,
    as_yaml,
    create_runner,
    extra_vars,
)
from rolecall.settings import RunnerSettings
from rolecall.surroundings import watches_of
from rolecall.watches import Watch

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_EXIT_CODES = {
    Ending.FINISHED: 1,  # where it did not succeed
    Ending.NOT_STARTED: 2,
    Ending.NO_RECAP: 2,
    Ending.TIMED_OUT: 124,
    Ending.NO_PROGRESS: 124,
    Ending.CANCELLED: 130,
    Ending.KILLED: 137,
}
_FALLBACK_COLLECTIONS = "~/.ansible/collections:/usr/share/ansible/collections"


def add_parser(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = subparsers.add_parser(
        "run-role",
        help="run one CR's role once, without an operator",
        description="Run the role or playbook that watches.yaml names for a CR's kind, once, with"
        " your own kubeconfig (KUBECONFIG, else ~/.kube/config). Where the CR exists in the cluster,"
        " the play sees it as it is there, with the spec of the file, and what it creates is owned by"
        " it. Conditions are not written.",
        epilog="Variables such as ANSIBLE_ROLES_PATH, ANSIBLE_GATHERING and ROLECALL_ANSIBLE_ARGS mean"
        " what they mean to `rolecall run`. Exit codes: 0 succeeded, 1 a task failed, 2 bad input or a"
        " broken play, 124 over a time limit, 130 interrupted, 137 killed.",
        allow_abbrev=False,
    )
    parser.add_argument("--cr", required=True, metavar="FILE", help="the CR; `-` reads stdin")
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
        help="run it the warm way, and list each task with its time, its way and why",
    )
    parser.add_argument(
        "--artifacts-dir",
        type=Path,
        metavar="DIR",
        help="keep the run's files here (default: nowhere)",
    )
    parser.add_argument("-v", dest="verbosity", action="count", default=0, help="Ansible's -v")
    parser.set_defaults(run=run_role)


def run_role(arguments: argparse.Namespace) -> int:
    """Run the role; returns the exit code."""
    environment = dict(os.environ)
    settings, warnings = settings_from(choose([], environment), environment)
    for warning in warnings:
        _say(f"warning: {warning}")
    settings = replace(settings, watches_file=arguments.watches_file)
    cr, watch = read_cr(arguments.cr, watches_of(settings, environment))
    cr = _as_the_operator_sees(cr, watch, arguments, environment)
    request = RunRequest(
        run_id=uuid.uuid4().hex[:12],
        watch=replace(watch, runner=None),
        cr=cr,
        is_finalizer=arguments.finalizer,
        kubeconfig=_kubeconfig(environment, is_needed=not arguments.print_vars),
        verbosity=arguments.verbosity,
        keep_artifacts=0,
        timeout_s=watch.run_timeout_s,
        no_progress_timeout_s=watch.no_progress_timeout_s,
    )
    if arguments.print_vars:
        variables = extra_vars(request, trust_cr_text=settings.runner.trust_cr_text)
        printed = as_json if arguments.print_vars == "json" else as_yaml
        print(printed(variables.values).rstrip())
        return 0
    return _run(request, _runner_settings(settings.runner, arguments, environment), arguments)


def _run(request: RunRequest, settings: RunnerSettings, arguments: argparse.Namespace) -> int:
    scratch = None
    if arguments.artifacts_dir is None:
        scratch = Path(tempfile.mkdtemp(prefix="rolecall-run-role-"))
    try:
        root = scratch or arguments.artifacts_dir.absolute()
        result = asyncio.run(_run_once(request, replace(settings, root=root), arguments))
        for line in _summary(request, result, arguments):
            _say(line)
        if arguments.explain_speed:
            print(explain(result))
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
    return 0 if result.succeeded else _EXIT_CODES[result.ending]


async def _run_once(
    request: RunRequest, settings: RunnerSettings, arguments: argparse.Namespace
) -> RunResult:
    runner = create_runner(settings)
    try:
        async with access_for(request, os.environ) as (reached, why_not_owned):
            if why_not_owned and not arguments.check:
                _say(f"note: objects that this run makes get no owner reference: {why_not_owned}")
            if arguments.explain_speed:
                await runner.warm_up([reached.watch])
            return await (await runner.start(reached, _print_event)).result()
    finally:
        await runner.close()


def _print_event(event: RunEvent) -> None:
    if event.stdout:
        print(event.stdout, flush=True)


def _as_the_operator_sees(
    cr: dict[str, Any],
    watch: Watch,
    arguments: argparse.Namespace,
    environment: Mapping[str, str],
) -> dict[str, Any]:
    """The CR as it would come from the API server at this point of its life."""
    metadata = dict(cr["metadata"])
    named = arguments.namespace
    namespace = _current_namespace(environment) if named is None else named
    if namespace:
        metadata.setdefault("namespace", namespace)
    if arguments.finalizer:
        if watch.finalizer is None:
            raise InputError(
                f"{watch.gvk.kind} has no finalizer, so nothing would run when one is deleted",
                hint=f"add `finalizer:` to the entry on line {watch.line} of watches.yaml",
            )
        metadata["finalizers"] = [*metadata.get("finalizers", []), watch.finalizer.name]
    now = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
    identity = f"{watch.gvk}/{metadata.get('namespace', '')}/{metadata['name']}"
    # What every object from the API server has, and roles rely on.
    metadata.setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_URL, identity)))
    metadata.setdefault("generation", 1)
    metadata.setdefault("creationTimestamp", now)
    if arguments.finalizer:
        metadata.setdefault("deletionTimestamp", now)
    spec = cr.get("spec")
    return {**cr, "metadata": metadata, "spec": spec if isinstance(spec, dict) else {}}


def _runner_settings(
    settings: RunnerSettings, arguments: argparse.Namespace, environment: Mapping[str, str]
) -> RunnerSettings:
    added = [flag for flag in ("check", "diff") if getattr(arguments, flag)]
    quoted = settings.ansible_args.strip("'")
    colours = sys.stdout.isatty() and "NO_COLOR" not in environment
    collections = arguments.watches_file.absolute().parent / ".collections"
    path = settings.collections_path
    if not path and not environment.get("ANSIBLE_COLLECTIONS_PATH") and collections.is_dir():
        path = f"{collections}:{_FALLBACK_COLLECTIONS}"
    return replace(
        settings,
        # One run pays the start of a warm host and gains nothing from it but the explanation.
        way="warm" if arguments.explain_speed else "stock",
        ansible_args=" ".join([quoted, *(f"--{flag}" for flag in added)]).strip(),
        collections_path=path,
        environment={"ANSIBLE_FORCE_COLOR": "1"} if colours else {},
    )


def _kubeconfig(environment: Mapping[str, str], *, is_needed: bool = True) -> Path:
    named = environment.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    first = Path(named.split(os.pathsep)[0])
    if is_needed and not first.is_file():
        raise InputError(
            f"the kubeconfig `{first}` was not found, so the play would reach no cluster",
            hint="`rolecall cluster up` starts a cluster on this machine; else set KUBECONFIG",
        )
    return Path(named) if os.pathsep in named else first.absolute()


def _current_namespace(environment: Mapping[str, str]) -> str:
    """The namespace that kubectl would take, as far as the kubeconfig can be read."""
    try:
        config = yaml.safe_load(_kubeconfig(environment, is_needed=False).read_text())
        contexts = {entry["name"]: entry["context"] for entry in config["contexts"]}
        return str(contexts[config["current-context"]].get("namespace") or "default")
    except (OSError, ValueError, yaml.YAMLError, LookupError, TypeError, AttributeError):
        return "default"


def _summary(request: RunRequest, result: RunResult, arguments: argparse.Namespace) -> list[str]:
    metadata = request.cr["metadata"]
    name = "/".join(text for text in (metadata.get("namespace"), metadata["name"]) if text)
    subject = f"{request.watch.gvk.kind} {name}"
    verdict = "succeeded" if result.succeeded else "failed"
    counts = ""
    if result.recap is not None:
        recap = result.recap
        counts = f" (ok={recap.ok} changed={recap.changed} skipped={recap.skipped})"
    lines = [f"{subject}: {verdict} in {result.seconds:.1f} s{counts}"]
    lines += [f"  {_failure(failure)}" for failure in result.failures]
    if result.reason_text:
        lines.append(f"  {result.reason_text}")
    would = "would have changed" if arguments.check else "changed"
    lines += [f"  {would}: {task}" for task in result.changed_tasks]
    if result.requeue_after_s is not None:
        lines.append(f"  asked to be run again after {result.requeue_after_s:g} s")
    if arguments.artifacts_dir is not None and result.artifacts is not None:
        lines.append(f"  files: {result.artifacts}")
    return lines


def _failure(failure: TaskFailure) -> str:
    task = f"task `{failure.task}` failed: " if failure.task else ""
    detail = f" ({failure.detail})" if failure.detail else ""
    place = f" at {failure.place}" if failure.place else ""
    return f"{task}{failure.message}{detail}{place}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
