"""Each call of a handler: it waits for its CR, acts in its name, and reports its end to the engine.

Handlers of changes and timers hold their CR exclusively: meanwhile neither its role nor another such
handler runs, unless the watch has `parallel: true`. Daemons, events and indices do not wait: a daemon
runs as long as its CR exists, and kopf handles events and indices before it decides anything.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kopf

from rolecall.extensions.handlers.child.identity import Identities
from rolecall.extensions.handlers.child.link import Link
from rolecall.handler_files import REVIEWING
from rolecall.json_object import Json

_WAITING = frozenset(
    {"create", "update", "delete", "resume", "field", "timer", "subhandler", "run_ended"}
)
_LONGEST_WHY = 1000
_current: ContextVar[Json | None] = ContextVar("the call that this code is part of", default=None)
_has: ContextVar[str] = ContextVar("uid of the CR that this handler has", default="")


@dataclass(frozen=True, slots=True)
class Registered:
    """One handler, as its decorator saw it."""

    decorator: str
    id: str
    place: str  # file and line

    @property
    def waits(self) -> bool:
        return self.decorator in _WAITING


class Calls:
    """Wraps the functions of handlers."""

    def __init__(
        self, link: Link, identities: Identities, parallel: frozenset[str], timeout_s: float
    ) -> None:
        """`parallel`: the kinds, as `Kind.group`, whose handlers do not wait for their CR."""
        self._link, self._identities = link, identities
        self._parallel, self._timeout_s = parallel, timeout_s
        self._loop = asyncio.get_running_loop()
        self.running: dict[int, tuple[Registered, Json]] = {}

    def wrapped(self, fn: Callable[..., Any], handler: Registered) -> Callable[..., Any]:
        """The same function, as kopf is to call it."""
        if _is_async(fn):

            @functools.wraps(fn)
            async def call(*args: Any, **named: Any) -> Any:
                body = named["body"]
                held = await self._hold(handler, body)
                try:
                    with self._reporting(handler, named):
                        async with asyncio.timeout(self._timeout_s if handler.waits else None):
                            return await fn(*args, **named)
                finally:
                    self._let_go(held)

            return call

        @functools.wraps(fn)
        def call_in_thread(*args: Any, **named: Any) -> Any:
            held = None
            if _is_in_thread(self._loop):
                holding = self._hold(handler, named["body"])
                held = asyncio.run_coroutine_threadsafe(holding, self._loop).result()
            try:
                with self._reporting(handler, named):
                    return fn(*args, **named)
            finally:
                self._let_go(held)

        return call_in_thread

    async def _hold(self, handler: Registered, body: Mapping[str, Any]) -> int | None:
        """Wait until its CR is free, where the handler needs it for itself."""
        ref, uid = ref_of(body), body["metadata"].get("uid", "")
        is_parallel = f"{ref['kind']}.{ref['group']}" in self._parallel
        if not handler.waits or is_parallel or _has.get() == uid:
            return None
        answer = await self._link.ask({"message_type": "hold", "cr": ref, **_of(handler)})
        number: int = answer["answers"]
        return number

    def _let_go(self, held: int | None) -> None:
        if held is not None:
            self._link.send({"message_type": "let go", "number": held})

    @contextmanager
    def _reporting(self, handler: Registered, named: Json) -> Iterator[None]:
        """Report to the engine the beginning of a daemon's call, and the end of each call."""
        ref, began = ref_of(named["body"]), time.monotonic()
        self.running[id(named)] = handler, ref
        before = _has.set(named["body"]["metadata"].get("uid", "") if handler.waits else "")
        caller = _current.set({"handler": handler.id, "cr": ref})
        if handler.decorator == "daemon":  # its end may never come
            self._link.send({"message_type": "began", "cr": ref, **_of(handler)})
        outcome, why, trace = "succeeded", "", ""
        try:
            with self._identities.acting_for(named["body"]):
                yield
            self._check_conditions(handler, named)
        except kopf.TemporaryError as error:
            outcome, why = "retry", str(error)
            raise
        except asyncio.CancelledError as error:
            outcome, why = "cancelled", str(error)
            raise
        except kopf.PermanentError as error:
            outcome, why = "denied" if handler.decorator in REVIEWING else "failed", str(error)
            raise
        except TimeoutError as error:
            outcome = "failed"
            why = str(error) or f"it took longer than {self._timeout_s:g} s, and was ended"
            raise
        except Exception as error:
            outcome, why = "failed", f"{_place_of(error)}{type(error).__name__}: {error}"
            trace = traceback.format_exc()
            raise
        finally:
            _has.reset(before)
            _current.reset(caller)
            del self.running[id(named)]
            seconds = time.monotonic() - began
            ended = {"outcome": outcome, "why": why[:_LONGEST_WHY], "seconds": round(seconds, 6)}
            ended["trace"] = trace
            self._link.send({"message_type": "called", "cr": ref, **_of(handler), **ended})

    def _check_conditions(self, handler: Registered, named: Json) -> None:
        status = getattr(named.get("patch"), "status", None)
        if status is not None and "conditions" in status:
            del status["conditions"]
            raise kopf.PermanentError(
                f"{handler.place}: it wrote `status.conditions`, the operator's; write another"
                " field of status"
            )


def current_call() -> Json | None:
    """Which handler this code is part of, and for which CR; None outside of calls."""
    return _current.get()


def _is_async(fn: Any) -> bool:
    while not inspect.iscoroutinefunction(fn):
        inner = fn.func if isinstance(fn, functools.partial) else getattr(fn, "__wrapped__", None)
        if inner is None:
            return False
        fn = inner
    return True


def _is_in_thread(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is not loop
    except RuntimeError:
        return True


def _of(handler: Registered) -> Json:
    return {"handler": handler.id, "decorator": handler.decorator, "place": handler.place}


def ref_of(body: Mapping[str, Any]) -> Json:
    group, _, version = body["apiVersion"].rpartition("/")
    metadata = body["metadata"]
    return {
        "group": group,
        "version": version,
        "kind": body["kind"],
        "namespace": metadata.get("namespace") or "",
        "name": metadata.get("name") or "",
    }


def _place_of(error: BaseException) -> str:
    """The innermost line of the project's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if each.filename.startswith(f"{Path.cwd()}/")]
    ours = [each for each in ours if "site-packages" not in each.filename]
    return f"{os.path.relpath(ours[-1].filename)}:{ours[-1].lineno}: " if ours else ""
