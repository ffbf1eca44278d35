"""`rolecall demo`: this folder's operator at work on a cluster of its own, in a live table."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.live import Live

from rolecall.cli import Subparsers, command_parser
from rolecall.clock import SystemClock
from rolecall.kube import Client, Credentials
from rolecall_dev.demo import DemoProject, LiveRows, Row, RunningDemo, find_project, table_of

NOT_READY = 1


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "demo",
        demo,
        "Starts a control plane with simulated nodes, installs the CRDs, runs the"
        " operator, creates config/samples and shows how each becomes ready. Ctrl-C removes"
        " everything.",
        examples={
            "rolecall demo": "until Ctrl-C",
            "rolecall demo --once": "stop when all CRs are ready",
            "rolecall demo -- --max-runs=2": "with flags of `rolecall run`",
        },
    )
    parser.add_argument(
        "--once", action="store_true", help="stop when all are ready, with a summary"
    )
    parser.add_argument(
        "--name", default="", help="name of the cluster (default: demo, or demo-2 beside another)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=120,
        metavar="SECONDS",
        help="stop after this time at the latest",
    )
    parser.add_argument(
        "engine_arguments",
        nargs="*",
        metavar="-- ARGUMENT",
        help="more arguments for `rolecall run`",
    )


def demo(arguments: argparse.Namespace) -> int:
    project = find_project(Path.cwd())
    console = Console()
    say = console.print
    for sample in project.samples:
        if sample.needs:
            say(f"left out: {sample.gvk.kind} {sample.name}, which needs {sample.needs}")
    # As Ctrl-C: engine and cluster have sessions of their own, and would stay.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with RunningDemo(project, arguments.name, arguments.engine_arguments, say) as running:
            print(f"cluster: {_credentials(running).target}", flush=True)
            running.install_crds()
            running.start_engine()
            running.create(project.shown)
            return asyncio.run(_show(running, project, arguments, console))
    except KeyboardInterrupt:
        return 0
    finally:
        say("the cluster and everything in it was removed")


async def _show(
    running: RunningDemo, project: DemoProject, arguments: argparse.Namespace, console: Console
) -> int:
    """Keep the table true; the exit code is the verdict."""
    async with Client(_credentials(running)) as client:
        kinds = [gvk for gvk in project.kinds if gvk in {sample.gvk for sample in project.shown}]
        live_rows = LiveRows(client, kinds, SystemClock())
        live = Live(console=console, auto_refresh=False, transient=not sys.stdout.isatty())
        async with live_rows.followed():
            with live:
                is_done = await _until_ready(live_rows, running, arguments.timeout, project, live)
                if not arguments.once:
                    print(_what_next(running, live_rows.rows()))
                    await _go_on(live_rows, live)
        console.print(table_of(live_rows.rows(), ""))
    return _verdict(live_rows.rows(), running, is_done=is_done)


def _credentials(running: RunningDemo) -> Credentials:
    return Credentials.load({**os.environ, "KUBECONFIG": str(running.kubeconfig)})


async def _until_ready(
    live_rows: LiveRows, running: RunningDemo, timeout_s: float, project: DemoProject, live: Live
) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                rows = await live_rows.next_rows()
                running.require_engine()
                live.update(table_of(rows, "Ctrl-C ends the demo"), refresh=True)
                if len(rows) >= len(project.shown) and all(row.is_ready for row in rows):
                    return True
    except TimeoutError:
        return False


async def _go_on(live_rows: LiveRows, live: Live) -> None:
    while True:
        live.update(table_of(await live_rows.next_rows(), "Ctrl-C ends the demo"), refresh=True)


def _what_next(running: RunningDemo, rows: Sequence[Row]) -> str:
    """Commands to try, with names that are really there."""
    edited = next((row for row in rows if row.dependents), rows[0])
    page = running.page()
    lines = [
        *(["Look at it in a browser:", f"  {page}"] if page else []),
        "Try in another terminal:",
        f"  export KUBECONFIG={running.kubeconfig}",
        f"  kubectl get {','.join(sorted({row.kind.lower() for row in rows}))}",
        f"  kubectl edit {edited.kind.lower()} {edited.name}",
        "  kubectl delete pvc --all        # and see them come back",
        f"  tail -f {running.log}",
    ]
    return "\n".join(lines)


def _verdict(rows: Sequence[Row], running: RunningDemo, *, is_done: bool) -> int:
    if is_done:
        slowest = max((row.ready_after_s or 0.0 for row in rows), default=0.0)
        ways = ", ".join(f"{count} {way}" for way, count in running.ways().items())
        print(
            f"demo: {len(rows)} of {len(rows)} CRs are Ready, the slowest after {slowest:.2f} s;"
            f" runs: {ways}"
        )
        return 0
    late = [row for row in rows if not row.is_ready]
    print(f"demo: {len(rows) - len(late)} of {len(rows)} CRs are Ready", file=sys.stderr)
    for row in late:
        print(f"  {row.kind} {row.name}: {row.reason} {row.message}".rstrip(), file=sys.stderr)
    print(running.log.read_text(encoding="utf-8", errors="replace")[-3000:], file=sys.stderr)
    return NOT_READY
