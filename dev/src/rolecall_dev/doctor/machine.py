"""Looks at the project and at this machine."""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import shutil
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rolecall.errors import InputError, ProblemsError
from rolecall.extending import BindAddress, extension_classes
from rolecall.history import roots_of
from rolecall.listening import PortHolder, holder_of_port, parse_address
from rolecall.local_engine import engines_of
from rolecall.runner import require_installed, version_of, why_stock
from rolecall.settings import Settings
from rolecall.watches import Watch, collection_faults, search_paths
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, to_do


# Whether the engine would start with the watches.yaml of this folder.
async def look_at_project(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """Reports the first problem; `rolecall check` reports all of them with their lines."""
    fault = surroundings.watches_fault
    file = surroundings.settings.watches_file
    if isinstance(fault, ProblemsError):
        return [
            to_do(f"{problem.file}:{problem.line}: {problem.what}", problem.hint)
            for problem in fault.problems
            if not problem.is_warning
        ]
    if fault is not None:
        return [to_do(fault.message, fault.hint)]
    number = len(surroundings.watches)
    return [done(f"{file} names {number} kind{'s' * (number != 1)}")]


# What is installed for runs: there, not too old, and known to us.

_NEEDED = ("ansible-core", "ansible-runner", "kubernetes")


async def look_at_versions(_surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all is there, else one for each that is not."""
    try:
        warnings = require_installed()
    except InputError as error:
        return [to_do(error.message, error.hint)]
    if warnings:
        return [to_do(warning) for warning in warnings]
    found = [f"{name} {version_of(name)}" for name in _NEEDED if version_of(name)]
    return [done(", ".join([f"Python {platform.python_version()}", *found]))]


# Whether runs are warm here, and why they are not where they could be.
async def look_at_way(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """Stock is fine if the user chose it; otherwise runs take seconds longer without need."""
    if surroundings.settings.runner.way == "stock":
        return [done("stock, as `--runner` says")]
    reason = await asyncio.to_thread(why_stock)
    if not reason:
        return [done("warm")]
    return [
        to_do(
            f"stock, because {reason}",
            "each run takes a second or two longer; `--runner stock` accepts that",
        )
    ]


# Whether plays find the collections that requirements.yml and tasks name.
async def look_at_collections(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each that is missing, half installed, or of another version."""
    return await asyncio.to_thread(_look_for_collections, surroundings)


def _look_for_collections(surroundings: Surroundings) -> list[Diagnosis]:
    project = surroundings.project
    search = search_paths(surroundings.environment, Path.cwd(), project).collections
    plays = [play for watch in surroundings.watches for play in watch.plays]
    faults = collection_faults(project, plays, search, sys.path)
    seen = [
        to_do(f"{fault.file}:{fault.line}: {fault.what}" if fault.line else fault.what, fault.hint)
        for fault in (*faults.missing, *faults.broken)
    ]
    return seen or [done("those that are needed are installed")]


# Whether runs can keep their files: the folder is ours, can be written, and has room.

# Twenty runs of a busy role keep some MB; an image with less than this left fails in odd ways.
_LEAST_BYTES = 200 * 1024 * 1024
_ANOTHER = "choose another with `--artifacts-dir`"


async def look_at_artifacts(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the folder, or where it would be made."""
    return [await asyncio.to_thread(_look_at_folder, surroundings.settings.runner.root)]


def _look_at_folder(root: Path) -> Diagnosis:
    place = next(path for path in (root, *root.parents) if path.exists())
    if not place.is_dir():
        return to_do(f"`{place}` is not a folder", _ANOTHER)
    if not os.access(place, os.W_OK | os.X_OK):
        return to_do(f"`{place}` cannot be written by this user", _ANOTHER)
    if place == root and (fault := _owner_fault(root)):
        return to_do(fault, _ANOTHER)
    free = shutil.disk_usage(place).free
    if free < _LEAST_BYTES:
        return to_do(
            f"`{root}` has {free // 2**20} MiB left", f"free some space there, or {_ANOTHER}"
        )
    return done(f"`{root}`, {free / 2**30:.1f} GiB free")


def _owner_fault(root: Path) -> str:
    found = root.stat()
    if found.st_uid != os.geteuid():
        return (
            f"`{root}` belongs to another user (uid {found.st_uid}), who could read Secrets there"
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        return f"`{root}` can be written by other users (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


# Whether the engine's ports are free, and who has them where they are not.

_LOOPBACK = "127.0.0.1"


async def look_at_ports(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all are free, else one for each that is not."""
    return await asyncio.to_thread(_look, surroundings.settings, surroundings.watches)


def _look(settings: Settings, watches: Sequence[Watch]) -> list[Diagnosis]:
    wanted = list(_wanted(settings, watches))
    own = _own_engines(settings)
    faults, held = [], {}
    for what, host, port, flag in wanted:
        error = _error_of(host, port)
        if error is None:
            continue
        holder = holder_of_port(port) if error.errno == errno.EADDRINUSE else None
        if holder is not None and holder.pid in own:
            held[f"{port} ({what})"] = holder.pid
        else:
            faults.append(_diagnosis_of_port(f"{port} ({what})", flag, error, holder))
    if faults:
        return faults
    names = [f"{port} ({what})" for what, _, port, _ in wanted]
    free = [name for name in names if name not in held]
    return [done("; ".join(filter(None, (_held(held), _free(free)))) or "none is wanted by number")]


def _own_engines(settings: Settings) -> set[int]:
    """The operators of this folder that answer: what they hold is as it should be.

    Those of other projects may share the folder of runs, and would be in the way.
    """
    found = engines_of(roots_of(settings.runner.root))
    pids = {int(state["engine"]["pid"]) for _, state in found}
    return {pid for pid in pids if _was_started_here(pid)}


def _was_started_here(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cwd").samefile(Path.cwd())
    return False


def _held(held: Mapping[str, int]) -> str:
    if not held:
        return ""
    pids = ", ".join(str(pid) for pid in sorted(set(held.values())))
    return f"{', '.join(held)}: held by the operator that runs here (process {pids})"


def _free(names: Sequence[str]) -> str:
    return f"{', '.join(names)} are free" if names else ""


def _wanted(settings: Settings, watches: Sequence[Watch]) -> Iterator[tuple[str, str, int, str]]:
    """What listens where, and the flag that chooses it; a port of 0 is always free."""
    metrics = settings.metrics
    rows = [
        ("proxy", _LOOPBACK, settings.proxy.port, "--proxy-port"),
        ("metrics of roles", _LOOPBACK, metrics.role_metrics_port, "--role-metrics-port"),
    ]
    for bind in (
        BindAddress("metrics", metrics.bind, "metrics-bind-address"),
        BindAddress("probes", metrics.probe_bind, "health-probe-bind-address"),
        *(bind for each in extension_classes() for bind in each.addresses(settings, watches)),
    ):
        if (address := parse_address(bind.address, bind.flag)) is not None:
            rows.append((bind.what, address.host or "", address.port, f"--{bind.flag}"))
    return (row for row in rows if row[2])


def _error_of(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            return error
    return None


def _diagnosis_of_port(
    name: str, flag: str, error: OSError, holder: PortHolder | None
) -> Diagnosis:
    if error.errno != errno.EADDRINUSE:
        return to_do(f"{name} cannot be opened: {error.strerror}", f"see {flag}")
    zero = "; 0 means any free one" if flag.endswith("port") else ""
    way_out = f"stop that process, or choose another port with `{flag}`{zero}"
    if holder is not None and holder.is_operator:
        way_out = f"`rolecall run --dev` takes free ports; {way_out}"
    return to_do(
        f"{name} is busy, held by {holder or 'a process that this user cannot see'}", way_out
    )
