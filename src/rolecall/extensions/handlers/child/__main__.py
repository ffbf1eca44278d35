"""`python -m rolecall.extensions.handlers.child FD`: runs the handlers until the engine is gone."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import kopf

from rolecall.extensions.handlers import api
from rolecall.extensions.handlers.child.calls import Calls, Registered, ref_of
from rolecall.extensions.handlers.child.decorators import shown, wrap_decorators
from rolecall.extensions.handlers.child.identity import Identities
from rolecall.extensions.handlers.child.link import Link
from rolecall.extensions.handlers.child.log import log_to
from rolecall.extensions.handlers.child.reviews import Reviews
from rolecall.gvk import Gvk
from rolecall.handler_files import KnownKind
from rolecall.json_object import Json

NOTES = "handlers.rolecall.dev"  # of kopf's annotations, which do not wake a role
_BLOCKED_S = 10.0
_LOOK_S = 1.0
_LET_FINISH_S = 5.0  # what daemons get at the end
_identity: dict[str, Any] = {"identity": "rolecall"}  # else kopf asks DNS for the name of our host
_logger = logging.getLogger("handlers")


async def main(fd: int) -> int:
    """Until the engine says so, or is gone."""
    link = Link(socket.socket(fileno=fd))
    asked = await link.open()
    log_to(link, asked["password"], is_debug=asked["is_debug"])
    identities = Identities(asked["port"], asked["password"])
    calls = Calls(link, identities, frozenset(asked["parallel"]), asked["timeout_s"])
    api.ask_by(
        lambda body, why: link.send({"message_type": "reconcile", "cr": ref_of(body), "why": why})
    )
    kinds = [KnownKind(Gvk(*kind["gvk"]), frozenset(kind["names"])) for kind in asked["kinds"]]
    reviews = Reviews(link)
    wrap_decorators(calls, reviews, kinds, acts=asked["acts"])
    if problem := _imported(asked):
        link.send({"message_type": "broken", **problem})
        await link.flush()
        return 1
    identities.install()
    _Watchdog().start()
    stop, ready = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(_operate(asked, reviews, stop, ready))
    waiting = asyncio.create_task(_when_ready(ready, link))
    ends = _Ends(calls)
    takes = {"run ended": ends.take, "review": reviews.take}
    listening = asyncio.create_task(
        link.listen(lambda message: takes[message["message_type"]](message))
    )
    await asyncio.wait({running, listening}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    await asyncio.wait({running}, timeout=_LET_FINISH_S)
    for handler, cr in calls.running.values():
        link.send(
            {"message_type": "unfinished", "cr": cr, "handler": handler.id, "place": handler.place}
        )
    for task in (running, listening, waiting):
        task.cancel()
    await asyncio.wait({running, listening, waiting}, timeout=1.0)
    await link.flush()
    sys.stderr.flush()
    os._exit(0)  # a thread that does not end would hold up the end of the loop


async def _when_ready(ready: asyncio.Event, link: Link) -> None:
    await ready.wait()
    link.send({"message_type": "ready"})


async def _operate(
    asked: Json, reviews: Reviews, stop: asyncio.Event, ready: asyncio.Event
) -> None:
    registry = kopf.get_default_registry()
    settings = kopf.OperatorSettings()

    @kopf.on.login()
    async def login(**_: object) -> kopf.ConnectionInfo:
        server = f"http://127.0.0.1:{asked['port']}"
        return kopf.ConnectionInfo(server=server, username="handlers", password=asked["password"])

    @kopf.on.startup()
    async def ours(settings: kopf.OperatorSettings, **_: object) -> None:
        """After those of the project, which may set the rest."""
        _set(settings, reviews)

    _set(settings, reviews)
    settings.posting.level = logging.WARNING
    settings.scanning.disabled = True  # the engine starts this process anew when kinds come or go
    # A deletion waits for timers that wait for the end of a run: kopf looks once a minute by default.
    settings.background.cancellation_polling = 1.0
    namespaces = asked["namespaces"]
    await kopf.operator(
        registry=registry,
        settings=settings,
        standalone=True,
        stop_flag=stop,
        ready_flag=ready,
        memo=kopf.Memo(),
        **_identity,
        **({"namespaces": namespaces} if namespaces else {"clusterwide": True}),
    )


def _set(settings: kopf.OperatorSettings, reviews: Reviews) -> None:
    settings.persistence.finalizer = f"{NOTES}/finalizer"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=NOTES, v1=False)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=NOTES, v1=False)
    settings.process.ultimate_exiting_timeout = None
    settings.admission.managed = None
    settings.admission.server = reviews.serve


def _imported(asked: Json) -> Json:
    """Import all files; returns the first failure, in the form in which the engine logs it."""
    sys.path.insert(0, str(Path.cwd()))
    for number, name in enumerate(asked["files"]):
        path = Path(name)
        try:
            _import_one(path, number)
        except BaseException as error:
            line = _line_in(error, path)
            return {
                "file": name,
                "line": line,
                "why": f"{type(error).__name__}: {error}",
                "trace": traceback.format_exc(),
            }
    return {}


def _import_one(path: Path, number: int) -> None:
    sys.path.insert(0, str(path.parent.resolve()))
    if path.is_dir():
        importlib.import_module(path.name)
        return
    name = f"__rolecall_handlers_{number}__{path}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _line_in(error: BaseException, path: Path) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [each.lineno for each in frames if each.filename == str(path)]
    return lines[-1] if lines else None


class _Ends:
    """Calls those who wait for the end of a run."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: Json) -> None:
        for fn in api.functions_of(message["body"]["kind"]):
            task = asyncio.create_task(self._call(fn, message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _call(self, fn: Any, message: Json) -> None:
        metadata = message["body"]["metadata"]
        place = f"{shown(fn.__code__.co_filename)}:{fn.__code__.co_firstlineno}"
        handler = Registered("run_ended", fn.__qualname__, place)
        named = {key: value for key, value in message.items() if key != "message_type"}
        named |= {"name": metadata["name"], "namespace": metadata.get("namespace")}
        named |= {"uid": metadata["uid"], "logger": _logger}
        call = self._calls.wrapped(fn, handler)
        try:
            if asyncio.iscoroutinefunction(call):
                await call(**named)
            else:
                await asyncio.to_thread(call, **named)
        except Exception:
            _logger.debug("a handler failed; the end of its call reports why")


class _Watchdog(threading.Thread):
    """Names what holds up the loop: nothing else can act meanwhile."""

    def __init__(self) -> None:
        super().__init__(name="watchdog", daemon=True)
        self._loop, self._main = asyncio.get_running_loop(), threading.main_thread().ident

    def run(self) -> None:
        while True:
            asked = time.monotonic()
            seen = threading.Event()
            self._loop.call_soon_threadsafe(seen.set)
            if not seen.wait(_BLOCKED_S):
                self._print_blocking_handler()
                seen.wait()
            time.sleep(max(0.0, _LOOK_S - (time.monotonic() - asked)))

    def _print_blocking_handler(self) -> None:
        frame = sys._current_frames().get(self._main or 0)
        stack = traceback.extract_stack(frame) if frame is not None else []
        cwd = str(Path.cwd())
        ours = [each for each in stack if each.filename.startswith(cwd)]
        place = f"{ours[-1].filename.removeprefix(cwd + '/')}:{ours[-1].lineno}" if ours else ""
        what = f"{place}: a handler has held up all others for {_BLOCKED_S:g} s"
        way_out = "`await` what waits, or make it a plain `def`, which gets a thread"
        sys.stderr.write(f"{what}; {way_out}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(int(sys.argv[1]))))
