"""`rolecall run`: flags and environment to settings, then the engine until it receives a signal.

Exit codes: 0 after SIGTERM or SIGINT, 1 for an error of the engine's own, 2 for bad input, 3 where the
cluster said no, 4 when another replica leads. The Go operator knows only 1; a supervisor that restarts
on "not 0" still works, and a person learns where to look.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.cli.dev_files import log_changes
from rolecall.cli.dev_lines import show_dev_lines
from rolecall.cli.dev_view import DevView
from rolecall.cli.flag_parser import FlagParser, add_flags, choose
from rolecall.cli.parsers import Subparsers, with_examples
from rolecall.cli.settings_from import settings_from
from rolecall.clock import SystemClock
from rolecall.documents import format_duration
from rolecall.errors import ProblemsError, RolecallError
from rolecall.log_fields import log_fields
from rolecall.logs import PrintedPlays, set_up_logs
from rolecall.runner import require_installed
from rolecall.settings import Chosen, FlagKind, Settings, flags_of_run

if TYPE_CHECKING:
    from rolecall.reconcile import PlayLog


_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # <malloc.h>
_LARGE_BLOCK_BYTES = 1024 * 1024
# The event loop waits as long for a thread that works, each time it wakes up; Python has 5 ms.
_THREAD_TURN_S = 0.001
_logger = logging.getLogger(__name__)
_EPILOG = """\
Each flag can also be set by the environment: ROLECALL_ and its name in capitals, such as
ROLECALL_PROXY_PORT=0; a flag on the command line comes first. Durations are written as in
300ms, 1.5h, 2h45m.
"""
# Their values may hold what a person would not print: `-e password=...`.
_NOT_SHOWN = {"ansible-args"}


def add_parser(subparsers: Subparsers) -> None:
    parser = FlagParser(
        prog="rolecall run",
        usage="rolecall run [--flag=value ...]",
        description="Run the operator of this folder: watch the kinds of watches.yaml, run roles.",
        epilog=_EPILOG,
    )
    add_flags(parser)
    with_examples(
        parser,
        {
            "rolecall run --dev": "while you write a role",
            "rolecall run --validate": "check flags and files, and exit",
            "rolecall run --max-runs=8 --log-format=json": "at most eight runs, JSON logs",
        },
    )
    parser.set_defaults(run=run_operator)
    subparsers.add_parser("run", help="run the operator of this folder")
    subparsers.choices["run"] = parser


def run_operator(arguments: argparse.Namespace) -> int:
    """Run until stopped; returns the exit code."""
    environment = dict(os.environ)
    chosen = choose(arguments.words, environment)
    settings, warnings = settings_from(chosen, environment)
    set_up_logs(settings.logs, sys.stderr)
    if settings.logs.is_dev:
        show_dev_lines(sys.stderr)
    if not chosen["validate"]:
        _log_cluster(environment)
    _log_settings(chosen, environment, warnings)
    try:
        for warning in require_installed():
            _logger.warning("%s", warning)
        return (_validate if chosen["validate"] else _run)(settings, environment)
    except ProblemsError as error:
        for problem in error.problems:
            level = logging.WARNING if problem.is_warning else logging.ERROR
            _logger.log(level, "%s", problem)
        return error.exit_code
    except RolecallError as error:
        _logger.error("%s", error)
        return error.exit_code
    except Exception:  # the last reader before the process ends
        _logger.exception("internal error; please report this with the log above")
        return 1


def _validate(settings: Settings, environment: Mapping[str, str]) -> int:
    """What would end the start, without a cluster: for the build of an image."""
    from rolecall.lifecycle import project_of, with_search_paths  # noqa: PLC0415 - as below

    watches = project_of(settings, environment)
    with_search_paths(settings, environment, watches)
    _logger.info("valid", extra=log_fields(kinds=len(watches)))
    return 0


def _run(settings: Settings, environment: Mapping[str, str]) -> int:
    _return_large_blocks()
    sys.setswitchinterval(_THREAD_TURN_S)
    gc.freeze()  # what was imported stays: no collection need look at it, and hold the loop for it
    asyncio.run(_serve(settings, environment))
    _logger.info("exiting")
    return 0


def _return_large_blocks() -> None:
    """Let glibc return each large block to the system, as it does by itself until the first is freed.

    Python makes its table of interned names anew every few thousand runs; kept in the heap, each of
    these tables of some megabytes leaves a hole. And each thread gets a heap of its own, in which the
    blocks of what it made for others stay: threads share one, since the interpreter lets one work.
    """
    with contextlib.suppress(AttributeError, OSError):  # another libc
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)
        libc.mallopt(_M_ARENA_MAX, 2)


async def _serve(settings: Settings, environment: Mapping[str, str]) -> None:
    from rolecall.app import serve  # noqa: PLC0415 - bad flags must not wait for the engine's imports

    serving = serve(settings, environment, _play_log(settings))
    if not settings.logs.is_dev:
        await serving
        return
    project = (Path.cwd() / settings.watches_file).parent
    logging_changes = log_changes(project, settings.watches_file.name, SystemClock())
    looking = asyncio.create_task(logging_changes, name="changed files")
    try:
        await serving
    finally:
        looking.cancel()


def _play_log(settings: Settings) -> PlayLog:
    logs = settings.logs
    if logs.is_dev:
        return DevView(sys.stdout)
    return PrintedPlays(
        logs.ansible_events, prints_stdout=settings.runner.debug_logs, stream=sys.stdout
    )


def _log_cluster(environment: Mapping[str, str]) -> None:
    """Log first of all to which cluster the kubeconfig leads."""
    from rolecall.kube import Credentials  # noqa: PLC0415 - as below

    # Where there is none, the start fails, and says why after what is wrong with the project.
    with contextlib.suppress(RolecallError):
        target = Credentials.load(environment).target
        _logger.info("cluster to work on", extra=log_fields(cluster=target))


def _log_settings(chosen: Chosen, environment: Mapping[str, str], warnings: list[str]) -> None:
    """Log the settings once, from flags and variables alike; empty ones are left out."""
    flags = flags_of_run()
    fields = {
        name: format_duration(value) if flags[name].kind is FlagKind.DURATION else value
        for name, value in chosen.values.items()
        if value not in (None, "")
    }
    fields |= {name: "(set)" for name in _NOT_SHOWN & chosen.origins.keys()}
    if "WATCH_NAMESPACE" in environment:
        fields["WATCH_NAMESPACE"] = environment["WATCH_NAMESPACE"]
    _logger.info("settings", extra=log_fields(**fields))
    for warning in warnings:
        _logger.warning("%s", warning)
