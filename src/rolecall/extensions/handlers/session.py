"""One life of the process of handlers, from its start to its end, and what it asks meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from rolecall.extending import EngineView
from rolecall.extensions.handlers.figures import HandlerFigures
from rolecall.extensions.handlers.flags import HandlerFlags
from rolecall.extensions.handlers.keys import HandlersKeys
from rolecall.extensions.handlers.process import HandlersProcess
from rolecall.gvk import Gvk
from rolecall.handler_files import KnownKind
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.reconcile import EndedRun
from rolecall.watches import Watch
from rolecall.webhooks import NoVerdictError
from rolecall.workqueue import Cause, Key

CHANGED = "files or kinds changed"
_LOOK_S = 1.0
_LONG_S = 10.0  # a role that waits for longer is logged
_SPARE_S = 5.0  # for a handler that is cancelled, before its process is
_numbers = count(1)
_logger = logging.getLogger(__name__)


class HandlersEndedError(NoVerdictError):
    """The process ended with a question; the next one may answer it."""


PendingEnds = OrderedDict[str, Json]  # by the UID of the CR, the newest each


class HandlersSession:
    """`run` lasts as long as the process does."""

    def __init__(
        self,
        engine: EngineView,
        kinds: Sequence[tuple[Watch, KnownKind]],
        figures: HandlerFigures,
        flags: HandlerFlags,
        ready: asyncio.Event,
        ends: PendingEnds,
    ) -> None:
        """`ready` is set while its process takes reviews; `ends` outlive it until they are sent."""
        self._engine, self._figures, self._flags = engine, figures, flags
        self._watches = watches = [watch for watch, _ in kinds]
        self._known = [known for _, known in kinds]
        self._kinds = {(watch.gvk.group, watch.gvk.kind): watch.gvk for watch in watches}
        self._process: HandlersProcess | None = None
        self._holds: dict[int, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._reviews: dict[int, asyncio.Future[Json]] = {}
        self._takes: dict[str, Callable[[Json], None]] = {
            "ready": self._is_ready,
            "broken": self._broken,
            "logged": self._log,
            "reviewed": self._reviewed,
            "hold": self._hold,
            "let go": lambda message: self._let_go(message["number"], is_given_up=False),
            "gave up": lambda message: self._let_go(message["number"], is_given_up=True),
            "unfinished": self._unfinished,
        }
        self._acts = engine.election.leads()  # else it only answers the API server
        self._why_ended = ""
        self._ready, self._ends = ready, ends
        self.broken = ""  # why the files cannot be imported

    async def run(self, has_changed: Callable[[], Awaitable[bool]]) -> str:
        """Returns why it ended."""
        engine = self._engine
        issue = engine.issue_access_to_process
        async with issue("handlers", self._watches, _Leads(engine)) as access:
            environment = self._environment(access.kubeconfig)
            asked = self._asked(access.port, access.password)
            process = await HandlersProcess.start(asked, Path.cwd(), environment)
            self._process = process
            self._figures.started()
            looking = asyncio.create_task(self._look(process, has_changed))
            try:
                async for message in process.messages():
                    self._take(message)
                return self._why_ended or await process.how_it_ended()
            finally:
                looking.cancel()
                self._ready.clear()
                await self._end(process)

    def send_ends(self) -> None:
        """Send the pending ends of runs to the handlers of `run_ended`, once they are ready."""
        while self._process is not None and self._ready.is_set() and self._ends:
            _, document = self._ends.popitem(last=False)
            self._process.send(document)

    async def review(self, verb: str, review: Json) -> Json:
        """The review with the handlers' answer; raises `NoVerdictError`."""
        if self._process is None:
            raise HandlersEndedError("the process of handlers ended")
        number = next(_numbers)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._reviews[number] = answer
        try:
            self._process.send(
                {"message_type": "review", "number": number, "verb": verb, "review": review}
            )
            return await answer
        finally:
            del self._reviews[number]

    def _reviewed(self, message: Json) -> None:
        answer = self._reviews.get(message["number"])
        if answer is None or answer.done():
            return
        if "review" in message:
            answer.set_result(message["review"])
        else:
            answer.set_exception(NoVerdictError(message["why"]))

    async def _end(self, process: HandlersProcess) -> None:
        self._process = None
        for task, _ in self._holds.values():
            task.cancel()
        for answer in self._reviews.values():
            if not answer.done():
                answer.set_exception(HandlersEndedError("the process of handlers ended"))
        may_finish = self._acts and self._engine.election.leads()
        await process.close(self._take if may_finish else None)
        self._figures.process_ended()

    def _take(self, message: Json) -> None:
        what, take = message["message_type"], self._takes.get(message["message_type"])
        if take is not None:
            take(message)
        elif (key := self._key_of(message["cr"])) is not None:
            if what == "called":
                self._figures.called(key, message)
            elif what == "began":
                self._figures.began(key, message)
            elif what == "reconcile":
                self._engine.retry(key, Cause(str(message["why"])))

    def _is_ready(self, _: Json) -> None:
        self._ready.set()
        self.send_ends()
        _logger.info("handlers are ready", extra=log_fields(pid=self._pid))

    def _broken(self, message: Json) -> None:
        place = f"{message['file']}:{message['line']}" if message["line"] else message["file"]
        self.broken = f"{place}: {message['why']}"
        _logger.error(
            "handlers cannot be imported, so none runs; roles go on",
            extra=log_fields(place=place, why=message["why"]),
        )
        _logger.debug("%s", message["trace"])

    def _unfinished(self, message: Json) -> None:
        cr = message["cr"]
        about = {key: cr[key] for key in ("kind", "namespace", "name")}
        _logger.warning(
            "a handler did not end in time and was killed; a daemon must end when `stopped` is set",
            extra=log_fields(**about, handler=message["handler"], place=message["place"]),
        )

    def _hold(self, message: Json) -> None:
        key, number, let_go = self._key_of(message["cr"]), message["asks"], asyncio.Event()

        async def hold() -> None:
            try:
                if key is None:
                    self._answer(number)
                    return
                async with self._engine.held(key):
                    self._answer(number)
                    await self._until(let_go, key, message)
            finally:
                self._holds.pop(number, None)

        self._holds[number] = (asyncio.create_task(hold(), name="hold for handler"), let_go)

    async def _until(self, let_go: asyncio.Event, key: Key, message: Json) -> None:
        """Wait for the end of a handler; one that takes too long is named, and then ended."""
        about = {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
        about |= {"handler": message["handler"], "place": message["place"]}
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONG_S):
                await let_go.wait()
                return
        _logger.warning(
            "a handler takes long, and no run of its object begins meanwhile",
            extra=log_fields(**about, seconds=_LONG_S),
        )
        limit_s = self._flags.timeout_s
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s + _SPARE_S - _LONG_S if limit_s else None):
                await let_go.wait()
                return
        self._kill(
            f"{message['place']}: handler `{message['handler']}` took longer than {limit_s:g} s"
        )

    def _answer(self, number: int) -> None:
        if self._process is not None:
            self._process.send({"answers": number})

    def _let_go(self, number: int, *, is_given_up: bool) -> None:
        if (hold := self._holds.get(number)) is None:
            return
        task, let_go = hold
        if is_given_up:
            task.cancel()
        else:
            let_go.set()

    async def _look(
        self, process: HandlersProcess, has_changed: Callable[[], Awaitable[bool]]
    ) -> None:
        while True:
            await self._engine.clock.sleep(_LOOK_S)
            size = process.memory_bytes
            self._figures.memory(size)
            if self._flags.memory_bytes and size > self._flags.memory_bytes:
                mib = size // 1024**2
                self._kill(f"it took {mib} MiB, more than `--handlers-memory` allows")
            elif await has_changed():
                self._kill(CHANGED)

    def _kill(self, why: str) -> None:
        self._why_ended = why
        if self._process is not None:
            self._process.kill()

    def _log(self, message: Json) -> None:
        ref = message.get("cr") or {}
        fields = {key: ref[key] for key in ("kind", "namespace", "name") if ref.get(key)}
        _logger.log(message["level"], "%s", message["message"], extra=log_fields(**fields))
        call = message["call"]
        if call is not None and (key := self._key_of(call["cr"])) is not None:
            self._figures.logged(key, call["handler"], message["message"])

    def _key_of(self, cr: Json) -> Key | None:
        gvk: Gvk | None = self._kinds.get((cr["group"], cr["kind"]))
        return Key(gvk, cr["namespace"], cr["name"]) if gvk is not None else None

    @property
    def _pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    def _asked(self, port: int, password: str) -> Json:
        asked = {watch.gvk: watch.extension(HandlersKeys) for watch in self._watches}
        files = [str(file) for keys in asked.values() if keys for file in keys.files]
        free = [gvk for gvk, keys in asked.items() if keys is not None and keys.is_parallel]
        return {
            "files": list(dict.fromkeys(files)),
            "port": port,
            "password": password,
            "namespaces": list(self._engine.settings.reactor.namespaces),
            "kinds": [
                {"gvk": [gvk.group, gvk.version, gvk.kind], "names": sorted(names)}
                for gvk, names in ((known.gvk, known.names) for known in self._known)
            ],
            "parallel": [f"{gvk.kind}.{gvk.group}" for gvk in free],
            "acts": self._acts,
            "is_debug": _logger.isEnabledFor(logging.DEBUG),
            "timeout_s": self._flags.timeout_s or None,
        }

    def _environment(self, kubeconfig: Path) -> Mapping[str, str]:
        """The engine's, with our kubeconfig for all clients, and no account of the pod."""
        hidden = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
        kept = {name: text for name, text in self._engine.environment.items() if name not in hidden}
        return {**kept, "KUBECONFIG": str(kubeconfig), "K8S_AUTH_KUBECONFIG": str(kubeconfig)}


def run_ended_message(run: EndedRun) -> Json:
    """The message to the process that a run has ended."""
    result = run.result
    return {
        "message_type": "run ended",
        "body": run.cr,
        "succeeded": result.succeeded,
        "message": "" if result.succeeded else result.reason_text,
        "changed": len(result.changed_tasks),
    }


class _Leads:
    """The right by which handlers write: there is one process of them for all replicas."""

    def __init__(self, engine: EngineView) -> None:
        self._engine = engine

    def holds(self) -> bool:
        return self._engine.election.leads()
