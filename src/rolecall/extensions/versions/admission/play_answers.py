"""Answers the API server by a play: run warm, with the request as its variable, in its time limit.

Promises: a denial is what the play's `assert` or `fail` said, and nothing else is; where the play came
to no verdict (it crashed, hung, tried to write, waited too long for its turn) the error says so, and
the API server does as `failurePolicy` says. A play whose caller hung up is ended.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rolecall.errors import RolecallError
from rolecall.extending import EngineView
from rolecall.extensions.versions.admission.answer_tasks import AnswerTasks, PlayAnswer
from rolecall.extensions.versions.admission.merge_patch import PatchError, json_patch
from rolecall.extensions.versions.admission.review import (
    ReviewAnswer,
    name_of,
    namespace_of,
    one_line,
    review_of,
    variable_of,
)
from rolecall.extensions.versions.admission.verdicts import OnVerdict, counted
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.runner import Ending, RunRequest, RunResult, terms_of
from rolecall.watches import Watch
from rolecall.webhooks import AdmissionKeys, NoVerdictError, Webhook

_logger = logging.getLogger(__name__)
# Before the API server's own limit: how long the play has, and how long it has to be ended.
_SPARE_S, _LAST_S = 0.5, 0.1
_LONGEST_REASON = 1000
VARIABLE = "admission"  # the only one of the play, beside those of the watch


class Slots:
    """Which plays of admission run now: so many at a time, each in a folder of its own.

    They have places of their own, so that neither long reconciles keep the API server waiting, nor a
    thousand requests the reconciles. A folder belongs to a place and not to an object: of one object
    there may be many requests at a time, and of most objects the next one never comes.
    """

    def __init__(self, root: Path, most: int) -> None:
        self._free: asyncio.LifoQueue[Path] = asyncio.LifoQueue()
        for number in reversed(range(most)):
            self._free.put_nowait(root / str(number))

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Path]:
        """Wait for a place, which is this caller's while the context lasts; yields its folder."""
        folder = await self._free.get()
        try:
            yield folder
        finally:
            self._free.put_nowait(folder)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, and what is asked about it."""

    webhook: Webhook
    watch: Watch  # with the play of admission as its play
    request: Json
    run_id: str
    until_s: float  # by the monotonic clock: when the API server hangs up

    @property
    def verb(self) -> str:
        return "mutate" if self.webhook.is_mutating else "validate"

    @property
    def operation(self) -> str:
        return str(self.request.get("operation") or "")

    def fields(self, **more: object) -> dict[str, dict[str, object]]:
        user = (self.request.get("userInfo") or {}).get("username", "")
        return log_fields(
            kind=self.webhook.kind,
            namespace=namespace_of(self.request),
            name=name_of(self.request),
            operation=self.operation,
            user=user,
            run=self.run_id,
            **more,
        )


class PlayAnswers:
    def __init__(self, engine: EngineView, slots: Slots, on_verdict: OnVerdict) -> None:
        # As the runner sees them: nothing of a CR's own run, but its `vars`.
        self._watches = {
            (is_mutating, watch.gvk): replace(watch, play=play, finalizer=None)
            for watch in engine.watches
            if (keys := watch.extension(AdmissionKeys)) is not None
            for _, play, is_mutating in keys.asked
        }
        self._engine, self._slots, self._on_verdict = engine, slots, on_verdict

    async def answer(self, webhook: Webhook, review: Json) -> Json:
        """The review with its response; raises `NoVerdictError` where the play came to none."""
        began_s = self._engine.clock.monotonic()
        watch = self._watches[
            webhook.is_mutating, Gvk(webhook.group, webhook.version, webhook.kind)
        ]
        asked = _Asked(
            webhook,
            watch,
            review["request"],
            str(secrets.randbits(63)),
            began_s + webhook.timeout_s,
        )
        with counted(webhook, asked.request, self._engine.clock, self._on_verdict) as verdict:
            try:
                answer = await self._answer(asked)
            except NoVerdictError as failure:
                fields = asked.fields(error=failure.message)
                _logger.error("admission came to no verdict", extra=fields)
                raise
            verdict.is_allowed(answer.is_allowed)
        if answer.is_allowed:
            _logger.debug("admission allowed", extra=asked.fields())
        else:
            _logger.info("admission denied", extra=asked.fields(message=answer.message))
        return review_of(review, answer)

    async def _answer(self, asked: _Asked) -> ReviewAnswer:
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._left_s(asked) - _SPARE_S):
                    folder = await stack.enter_async_context(self._slots.taken())
            except TimeoutError:
                raise NoVerdictError(
                    f"{_named(asked)} did not get its turn in {asked.webhook.timeout_s} s",
                    hint="see `--max-admission-runs`, and how long its plays take",
                ) from None
            try:
                async with asyncio.timeout(self._left_s(asked) - _LAST_S):
                    result = await self._run(asked, folder)
            except TimeoutError:
                raise NoVerdictError(
                    f"{_named(asked)} took longer than the {asked.webhook.timeout_s} s that it has"
                ) from None
        return _answer_of(asked, result)

    async def _run(self, asked: _Asked, folder: Path) -> RunResult:
        cr = _stand_in(asked, folder.name)
        async with AsyncExitStack() as stack:
            try:
                issuing = self._engine.issue_read_access(asked.run_id, cr, asked.watch)
                access = await stack.enter_async_context(issuing)
            except (OSError, RolecallError) as error:
                why = f"{_named(asked)} got no access to the API server: {error}"
                raise NoVerdictError(why) from error
            cr["metadata"] |= {"name": name_of(asked.request) or "-"}
            request = RunRequest(
                run_id=asked.run_id,
                terms=terms_of(asked.watch),
                cr=cr,
                is_finalizer=False,
                kubeconfig=access.kubeconfig,
                missing_right=access.missing_right,
                seen_secrets=access.seen_secrets,
                cause=f"{asked.verb} {asked.operation}",
                verbosity=0,  # each `-v` costs events, which have no reader here
                keep_artifacts=asked.watch.max_runner_artifacts,
                timeout_s=round(max(0.1, self._left_s(asked) - _SPARE_S), 1),
                no_progress_timeout_s=0,
                variables={VARIABLE: variable_of(asked.request)},
                is_awaited=True,
                read_tasks=AnswerTasks,
                folder=folder,
            )
            handle = await self._engine.runner.start(request, lambda _event: None)
            return await handle.result()

    def _left_s(self, asked: _Asked) -> float:
        return asked.until_s - self._engine.clock.monotonic()


def _stand_in(asked: _Asked, slot: str) -> Json:
    """The owner of the credential: no real CR, with a name that is the same for every request.

    Ansible's modules cache the API discovery by the user name.
    """
    gvk = asked.watch.gvk
    metadata = {"namespace": namespace_of(asked.request), "name": f"admission-{slot}", "uid": ""}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}


def _answer_of(asked: _Asked, result: RunResult) -> ReviewAnswer:
    answer = result.answer
    if result.ending is not Ending.FINISHED or not isinstance(answer, PlayAnswer):
        raise NoVerdictError(_line(f"{_named(asked)}: {_why(result)}"))
    if answer.denials:
        return ReviewAnswer(denials=tuple(answer.denials), warnings=tuple(answer.warnings))
    if result.failures:
        raise NoVerdictError(_line(f"{_named(asked)} failed: {_why(result)}"))
    return ReviewAnswer(warnings=tuple(answer.warnings), patch=_patch_of(asked, answer))


def _patch_of(asked: _Asked, answer: PlayAnswer) -> tuple[Json, ...]:
    if not asked.webhook.is_mutating:
        return ()
    if answer.unread:
        raise NoVerdictError(f"{_named(asked)}: {answer.unread}")
    try:
        return tuple(json_patch(answer.patch, asked.request.get("object")))
    except PatchError as error:
        raise NoVerdictError(f"{_named(asked)}: `admission_patch`: {error}") from error


def _named(asked: _Asked) -> str:
    play = asked.watch.play
    return f"{'role' if play.is_role else 'playbook'} `{play.fqcn or play.path.name}`"


def _why(result: RunResult) -> str:
    if result.reason_text or not result.failures:
        return f"{result.ending.value}: {result.reason_text}"
    failure = result.failures[0]
    message = f"{failure.message}: {failure.detail}" if failure.detail else failure.message
    where = f" (task `{failure.task}`, {failure.place})" if failure.task else ""
    return message + where


def _line(text: str) -> str:
    return one_line(text, _LONGEST_REASON)
