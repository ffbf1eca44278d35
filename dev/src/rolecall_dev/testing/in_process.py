"""The engine inside of the test's process and loop: started in milliseconds, with scripted plays.

It is the whole engine, `rolecall.app.serve`, with all its listeners, on a real API server. Only two
things are different from `rolecall run`: a `ScriptedPlay` performs the plays, and no signal stops it.
"""

from __future__ import annotations

import asyncio
import contextvars
import io
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp

from rolecall.app import serve
from rolecall.cli import settings_of
from rolecall.json_object import Json
from rolecall.lifecycle import Stop
from rolecall.logs import JsonFormatter, PeopleFormatter, PrintedPlays
from rolecall.settings import known_flags
from rolecall_dev.testing.samples import runs_in, sum_of
from rolecall_dev.testing.scripted import ScriptedPlay
from rolecall_dev.testing.waiting import TIMEOUT_S, eventually_async

_current: contextvars.ContextVar[EngineInProcess] = contextvars.ContextVar("engine")
_logger = logging.getLogger("rolecall")
_READY = 200


class EngineInProcess:
    """One engine; `async with EngineInProcess(...)` starts it, waits until it is ready, and stops it.

        plays = ScriptedPlay({"Website": website})
        async with EngineInProcess(project, plays, kubeconfig=cluster.kubeconfig) as engine:
            ...

    `flags` and `environment` are those of `rolecall run`; nothing of the shell's environment is used.
    Start a second one with the same `artifacts` to test a restart. After `stop`, `log` and `artifacts`
    can still be read until the context ends.
    """

    def __init__(
        self,
        project: Path,
        plays: ScriptedPlay,
        *flags: str,
        kubeconfig: Path,
        environment: Mapping[str, str] | None = None,
        artifacts: Path | None = None,
    ) -> None:
        self.plays = plays
        self._folder = Path(tempfile.mkdtemp(prefix="e"))  # short, for the sockets in it
        self.artifacts = artifacts or self._folder / "artifacts"
        self._ports_file = self._folder / "ports.json"
        self._environment = {
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(self._folder),
            "PATH": os.environ["PATH"],
            "ANSIBLE_GATHERING": "explicit",
            **(environment or {}),
        }
        self._words = [
            *(f"--watches-file={project.absolute() / 'watches.yaml'}", "--proxy-port=0"),
            *("--role-metrics-port=0", "--metrics-bind-address=127.0.0.1:0"),
            "--health-probe-bind-address=127.0.0.1:0",
            *known_flags(["--webhook-bind-address=127.0.0.1:0"]),
            *(f"--artifacts-dir={self.artifacts}", f"--ports-file={self._ports_file}"),
            *flags,
        ]
        self._log, self._output = io.StringIO(), io.StringIO()
        self._stop = Stop()
        self._serving: asyncio.Task[None] | None = None
        self._is_raised = False

    @property
    def log(self) -> str:
        """The engine's log, as `rolecall run` writes it to stderr."""
        return self._log.getvalue()

    @property
    def play_output(self) -> str:
        """The output of its plays, as `rolecall run` writes it to stdout."""
        return self._output.getvalue()

    @property
    def ports(self) -> dict[str, int]:
        """The port of each listener, by name."""
        ports: dict[str, int] = json.loads(self._ports_file.read_text())
        return ports

    @property
    def failure(self) -> BaseException | None:
        """The exception that ended the engine, if one did."""
        if self._serving is None or not self._serving.done() or self._serving.cancelled():
            return None
        return self._serving.exception()

    async def __aenter__(self) -> EngineInProcess:
        try:
            return await self.start()
        except BaseException:
            await self.clean_up()
            raise

    async def __aexit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                await self.stop()
        finally:
            await self.clean_up()

    async def start(self) -> EngineInProcess:
        """Start the engine and wait until it is ready."""
        self.begin()
        return await self.wait_ready()

    def begin(self) -> EngineInProcess:
        """Start the engine, and do not wait: for one that must not become ready, or not lead."""
        context = contextvars.copy_context()
        context.run(_current.set, self)
        settings, _ = settings_of(self._words, self._environment)
        formatter = JsonFormatter if settings.logs.is_json else PeopleFormatter
        self._formatter = formatter(logging.ERROR)
        _SHARED.begin(self, settings.logs.level)
        plays = PrintedPlays(
            settings.logs.ansible_events,
            prints_stdout=settings.runner.debug_logs,
            stream=self._output,
        )
        serving = serve(
            settings,
            self._environment,
            plays,
            make_runner=self.plays.make_runner,
            stop=self._stop,
        )
        self._serving = asyncio.get_running_loop().create_task(
            serving, name="engine", context=context
        )
        return self

    async def wait_ready(self) -> EngineInProcess:
        """Wait until `/readyz` answers 200, as a kubelet does."""

        async def is_ready() -> bool:
            self._raise_failure()
            return self._ports_file.exists() and (await self.ask("probes", "/readyz"))[0] == _READY

        await eventually_async(is_ready, timeout_s=TIMEOUT_S)
        return self

    async def stop(self) -> None:
        """Stop it as SIGTERM does; raises if it failed, or if a script has a bug."""
        self._stop.ask()
        if self._serving is not None:
            await asyncio.wait([self._serving])
            self._raise_failure()
        assert not self.plays.bugs, "\n".join(["a scripted play has a bug:", *self.plays.bugs])

    async def abort(self) -> None:
        """Stop it as a second SIGTERM does: runs in flight are cancelled at once."""
        if self._serving is not None and not self._serving.done():
            self._stop.ask()
            self._stop.ask()
            await asyncio.wait([self._serving])

    async def clean_up(self) -> None:
        """Abort it if it still runs, and remove its files."""
        await self.abort()
        _SHARED.end(self)
        shutil.rmtree(self._folder)

    async def ask(
        self, listener: str, path: str, *, method: str = "GET", token: str = ""
    ) -> tuple[int, str]:
        """HTTP code and text of one of the listeners: `probes`, `metrics`, `page` ..."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"http://127.0.0.1:{self.ports[listener]}{path}"
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, url, headers=headers) as response,
        ):
            return response.status, await response.text()

    async def metric(self, name: str, /, **labels: str) -> float:
        """The sum over all samples of a metric that have these labels."""
        return sum_of((await self.ask("metrics", "/metrics"))[1], name, labels)

    async def runs(self, kind: str = "", /, **labels: str) -> float:
        """How many runs ended; of a kind, or of all."""
        return runs_in((await self.ask("metrics", "/metrics"))[1], kind, labels)

    async def command(self, *words: str, code: int = 0) -> str:
        """The output of `rolecall WORDS`, in a process that finds this engine by its artifacts."""
        environment = {**self._environment, "ROLECALL_ARTIFACTS_DIR": str(self.artifacts)}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rolecall", *words),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = (text.decode() for text in await process.communicate())
        assert process.returncode == code, f"rolecall {' '.join(words)}: {output}{errors}"
        return output if code == 0 else f"{output}{errors}"

    def runs_on_disk(self) -> list[Json]:
        """The `run.json` of each run that is kept, oldest first."""
        files = [json.loads(file.read_text()) for file in self.artifacts.glob("**/run.json")]
        return sorted(files, key=lambda run: str(run["began"]))

    def write_line(self, record: logging.LogRecord) -> None:
        """Add a record to `log`."""
        self._log.write(f"{self._formatter.format(record)}\n")

    def _raise_failure(self) -> None:
        if (failure := self.failure) is not None and not self._is_raised:
            self._is_raised = True
            raise failure


class _Shared(logging.Handler):
    """What the engines of this process share while there are any: the logger, and the loop's threads.

    Each record goes to its engine's log; one of a thread without an engine, to all of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._engines: list[EngineInProcess] = []
        self._level_before = logging.NOTSET
        self._threads = ThreadPoolExecutor()

    def begin(self, engine: EngineInProcess, level: str) -> None:
        if not self._engines:
            self._level_before = _logger.level
            _logger.addHandler(self)
            self._threads = ThreadPoolExecutor()
            asyncio.get_running_loop().set_default_executor(self._threads)
        self._engines.append(engine)
        wanted = logging.DEBUG if level == "debug" else logging.INFO
        _logger.setLevel(min(wanted, _logger.level or logging.INFO))

    def end(self, engine: EngineInProcess) -> None:
        if engine not in self._engines:
            return
        self._engines.remove(engine)
        if not self._engines:
            _logger.removeHandler(self)
            _logger.setLevel(self._level_before)
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
            self._threads.shutdown()

    def emit(self, record: logging.LogRecord) -> None:
        engine = _current.get(None)
        for each in self._engines if engine is None else [engine]:
            each.write_line(record)


_SHARED = _Shared()
