"""A run child: the fork that runs one play, in the very words of `ansible-playbook`.

It reports to the engine first that it lives (with a pidfd of its own, so that the engine can end it
without ever hitting a stranger), runs the command, and says how it ended. From the first word on the
run is the child's, whatever becomes of the host: the engine never starts it a second time.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ansible.errors import AnsibleError
from ansible.utils.sentinel import Sentinel

from rolecall_base import processes, wire
from rolecall_base.marks import mark_as
from rolecall_warm.ahead.pages import write_down_own
from rolecall_warm.hooks import fresh, seams
from rolecall_warm.hooks.core import Core
from rolecall_warm.hooks.cores import core_at_hand
from rolecall_warm.hooks.endings import end_like_an_interpreter, status_of
from rolecall_warm.hooks.event_callback import EventCallback
from rolecall_warm.hooks.file_copies import FileCopies
from rolecall_warm.hooks.import_notes import ImportNotes
from rolecall_warm.hooks.inline import InlineRunner
from rolecall_warm.hooks.jinja_names import JinjaNames
from rolecall_warm.hooks.keywords import Keywords
from rolecall_warm.hooks.module_code import CompiledModules
from rolecall_warm.hooks.modules import ModuleRunner
from rolecall_warm.hooks.new_process import NewProcess
from rolecall_warm.hooks.parsed_files import ParsedFiles
from rolecall_warm.hooks.planning import Planning
from rolecall_warm.hooks.streams import StreamSettings
from rolecall_warm.hooks.tally import Tally
from rolecall_warm.hooks.templates import CompiledTemplates
from rolecall_warm.hooks.uses import Uses
from rolecall_warm.hooks.waits import RunWaits

_FIRST_FREE_DESCRIPTOR = 3
# What `ansible-playbook` ends with where it cannot even make its settings.
_NOT_EVEN_SETTINGS = 5


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run, as the engine ordered it."""

    run_id: str
    command: list[str]
    environment: dict[str, str]
    cwd: str
    output: int  # descriptor for standard output and error
    report: int  # descriptor of the socket to report on
    imports: str  # the file to note in what it had to import
    inputs: tuple[str, ...]  # files and folders of its project, where it is asked what it uses
    may_wait: bool = False  # it has a slot, which others may use while it waits
    pages: str = ""  # the file for the pages that it wrote to, if any


@dataclass
class HostParts:
    """What the host has ready for its children."""

    core: Core
    tally: Tally
    inline: InlineRunner
    modules: CompiledModules
    events: EventCallback
    streams: StreamSettings
    imports: ImportNotes
    parsed: ParsedFiles
    new: NewProcess
    uses: Uses
    planning: Planning
    waits: RunWaits

    @classmethod
    def in_place(cls, events: EventCallback, streams: StreamSettings, new: NewProcess) -> HostParts:
        """Put the hooks in place."""
        core, tally, waits = core_at_hand(streams), Tally(), RunWaits()
        planning = Planning(core)
        waits.stand_in()
        compiled = CompiledModules(core.is_new_style, str(sys.modules["ansible"].__file__))
        uses = Uses(str(Path(str(sys.modules["ansible"].__file__)).parent))
        inline = InlineRunner(core, tally, uses, planning, waits)
        inline.thread_locals.append(events.context)
        modules = ModuleRunner(core, tally, uses, compiled, planning, waits)
        rules = core.template_rules()
        templates, keywords = CompiledTemplates(rules), Keywords(Sentinel)
        parsed = ParsedFiles(core.tags_of, core.display)
        names, copies = JinjaNames(), FileCopies(core.tags_of)
        hooks = seams.Hooks(
            inline, modules, events, templates, names, parsed, copies, keywords, uses, planning
        )
        seams.install(hooks, rules.environment, core.clock)
        imports = core.module_process.imports
        return cls(
            core,
            tally,
            inline,
            compiled,
            events,
            streams,
            imports,
            parsed,
            new,
            uses,
            planning,
            waits,
        )


def be_run_child(order: RunOrder, parts: HostParts) -> NoReturn:
    """Run the play and leave; never returns to the host's code."""
    status = 250
    report: socket.socket | None = None
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        processes.set_name("rolecall-run")
        processes.become_subreaper()
        processes.wake_when_parent_dies()
        mark_as(order.run_id)
        parts.imports.open(order.imports)
        report = _take_over(order, parts.streams)
        status = _run(order, parts, report)
        wire.report(report, {"r": "end", "rc": status, "cpu_s": _cpu_s()})
        parts.imports.write()
        if order.pages:
            with contextlib.suppress(OSError):  # a full disk: the next run may write it
                write_down_own(Path(order.pages))
    except BaseException as error:  # nothing may climb into the host's loop
        if report is not None:
            _say(f"[ERROR]: internal error of the warm runner: {error}; please report this")
            with contextlib.suppress(OSError, ValueError):
                text = traceback.format_exc()[-4000:]
                wire.report(report, {"r": "end", "rc": status, "crash": text})
    finally:
        os._exit(status)


def practice_play(parts: HostParts) -> Callable[[list[str]], object]:
    """Plays as in a run, but reports to no engine."""

    def play(command: list[str]) -> object:
        parts.streams.open_all(events_in_one_piece=True)
        _renew(parts)
        parts.planning.practise()
        return _play(command)

    return play


def _take_over(order: RunOrder, streams: StreamSettings) -> socket.socket:
    """Take our own descriptors, environment and streams; then report to the engine that we begin."""
    report_fd, output_fd = os.dup(order.report), os.dup(order.output)
    high = max(report_fd, output_fd)
    for start, end in _gaps(_FIRST_FREE_DESCRIPTOR, {report_fd, output_fd}):
        os.closerange(start, end)
    os.closerange(high + 1, 1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    fresh.take_environment(order.environment, order.cwd)
    fresh.take_streams(null, output_fd, streams)
    os.close(null)
    os.close(output_fd)
    report = socket.socket(fileno=report_fd)
    report.set_inheritable(False)
    pidfd = os.pidfd_open(os.getpid())
    wire.report(report, {"r": "begin", "pid": os.getpid()}, [pidfd])
    os.close(pidfd)
    return report


def _gaps(first: int, kept: set[int]) -> list[tuple[int, int]]:
    gaps = []
    for fd in sorted(kept):
        gaps.append((first, fd))
        first = fd + 1
    return gaps


def _run(order: RunOrder, parts: HostParts, report: socket.socket) -> int:
    try:
        _renew(parts)
    except AnsibleError as error:  # such as a disk without room for its temporary folder
        _say(f"ERROR: {error}")
        return _NOT_EVEN_SETTINGS
    parts.tally.report_to(report)
    parts.events.report_to(report)
    if order.may_wait:
        parts.waits.report_to(report)
    if order.inputs:
        parts.uses.begin(report, order.inputs, (order.imports, order.pages))
    status = _play(order.command)
    parts.tally.close_task()
    end_like_an_interpreter()
    parts.uses.end()
    return status


def _renew(parts: HostParts) -> None:
    fresh.renew_globals()
    parts.new.renew()
    parts.events.renew()
    parts.inline.take_streams()
    parts.planning.renew()


def _cpu_s() -> float:
    """Of this process and of its children that have ended; the host would report it too late."""
    parts = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def _play(command: list[str]) -> int:
    from ansible.cli.playbook import PlaybookCLI  # noqa: PLC0415 - imported long ago, by the host

    sys.argv = list(command)
    try:
        PlaybookCLI.cli_executor(list(command))
    except SystemExit as leaving:
        return status_of(leaving)
    return 0


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - the play's own output
