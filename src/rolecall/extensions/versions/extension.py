"""The API server asks this engine about versions of CRs; objects are stored at the newest of them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from rolecall.conversion import CONVERSIONS_FILE, Conversion, load_conversions
from rolecall.extending import BackgroundPart, BindAddress, Endpoints, EngineView, Extension
from rolecall.extensions.versions.admission.play_answers import PlayAnswers, Slots
from rolecall.extensions.versions.admission.verdicts import counted
from rolecall.extensions.versions.figures import VERSION_METRICS, VersionFigures
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.extensions.versions.migration.by_engine import EngineMigration
from rolecall.extensions.versions.webhooks.routes import Asked
from rolecall.extensions.versions.webhooks.server import WebhookServer
from rolecall.json_object import Json
from rolecall.listening import parse_address
from rolecall.runner import claimed_beside_crs
from rolecall.settings import Settings, read_capacity
from rolecall.watches import Watch
from rolecall.webhooks import AdmissionKeys, Webhook, webhooks_of


class VersionsExtension(Extension):
    name = "versions"
    metrics = VERSION_METRICS
    watch_keys = AdmissionKeys
    after = ("handlers",)  # they respond until the webhook server has ended

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._flags = engine.settings.extension(VersionFlags)
        self._figures = VersionFigures(engine.metrics)
        self._conversions = _conversions_of(engine.settings)
        self._server: WebhookServer | None = None

    @classmethod
    def files(cls, settings: Settings) -> Mapping[str, Path]:
        return {"conversions file": _conversions_file(settings)}

    @classmethod
    def check(cls, settings: Settings) -> None:
        _conversions_of(settings)

    @classmethod
    def addresses(cls, settings: Settings, watches: Sequence[Watch]) -> Sequence[BindAddress]:
        if not (webhooks_of(watches) or _conversions_file(settings).exists()):
            return []
        bind = settings.extension(VersionFlags).bind
        return [BindAddress("webhooks", bind, "webhook-bind-address")]

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        """Listen where there is something to be asked for."""
        address = parse_address(self._flags.bind, "webhook-bind-address")
        with ExitStack() as stack:
            asked = self._asked(stack)
            if not asked or address is None:
                yield
                return
            server = WebhookServer(self.engine, asked, self._figures.converted)
            async with server.opened(address, endpoints):
                self._server = server
                yield

    def parts(self) -> Mapping[str, BackgroundPart]:
        parts: dict[str, BackgroundPart] = {}
        if self._server is not None:
            parts["webhooks"] = self._server.run
        if self._flags.migrates_storage:
            parts["storage migration"] = self._migrate
        return parts

    def on_leading_change(self) -> None:
        if self._server is not None:
            self._server.wake()

    def begin_end(self) -> None:
        if self._server is not None:
            self._server.begin_end()

    def _asked(self, stack: ExitStack) -> Asked:
        """What the API server may ask; plays of admission have a folder until the stack ends."""
        webhooks = webhooks_of(self.engine.watches)
        if not webhooks:
            return Asked(self._conversions)
        root = self.engine.settings.runner.root
        folder = stack.enter_context(claimed_beside_crs(root, ".admission"))
        most = self._flags.max_admission_runs or math.ceil(read_capacity().cpus)
        answers = PlayAnswers(self.engine, Slots(folder, most), self._figures.admission_answered)
        return Asked(self._conversions, webhooks, partial(self._answer, answers))

    async def _answer(self, plays: PlayAnswers, webhook: Webhook, review: Json) -> Json:
        """By a play, where no other extension has a better answer."""
        reviewer = self.engine.reviewer_of(webhook)
        if reviewer is None:
            return await plays.answer(webhook, review)
        request, clock = review["request"], self.engine.clock
        with counted(webhook, request, clock, self._figures.admission_answered) as verdict:
            answered = await reviewer(review)
            verdict.is_allowed(answered["response"]["allowed"])
            return answered

    async def _migrate(self) -> None:
        engine = self.engine
        kinds = [watch.gvk for watch in engine.watches]
        client, is_listed = engine.leading_client, engine.is_listed
        migration = EngineMigration(client, kinds, engine.clock, is_listed=is_listed)
        await engine.election.while_leading(migration.run)


def _conversions_of(settings: Settings) -> list[Conversion]:
    """Raises `ProblemsError` with all that is wrong with the file."""
    file = _conversions_file(settings)
    return load_conversions(file) if file.exists() else []


def _conversions_file(settings: Settings) -> Path:
    return settings.watches_file.parent / CONVERSIONS_FILE
