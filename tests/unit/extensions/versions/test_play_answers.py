"""A request becomes a play's variables, and what the play came to becomes the answer."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.versions.admission.answer_tasks import PlayAnswer
from rolecall.extensions.versions.admission.play_answers import (
    PlayAnswers,
    Slots,
)
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.reconcile import RunAccess
from rolecall.runner import (
    Ending,
    OnEvent,
    RunHandle,
    RunRequest,
    RunResult,
    TaskFailure,
)
from rolecall.watches import Play, Watch
from rolecall.webhooks import Admission, AdmissionKeys, NoVerdictError, Webhook, webhooks_of
from tests.fixtures.eventually import eventually_async
from tests.unit.extending.views import engine_view

KIND = Gvk("shop.example.com", "v1", "Basket")
ROLE = Play(Path("/roles/basket_admission"), is_role=True)
WATCH = Watch(
    KIND,
    Play(Path("/roles/basket"), is_role=True),
    vars={"limit": 3},
    of_extensions=(
        AdmissionKeys(
            Admission(ROLE, operations=("CREATE", "DELETE"), timeout_s=1),
            Admission(ROLE, failure_policy="Ignore", subresources=("scale",)),
        ),
    ),
)
MUTATE, VALIDATE = webhooks_of([WATCH])
FINISHED = RunResult("1", Ending.FINISHED, 0, answer=PlayAnswer())


def review(**request: Any) -> Json:
    base: Json = {
        "uid": "u-1",
        "operation": "CREATE",
        "namespace": "demo",
        "name": "",
        "userInfo": {"username": "jane", "groups": ["dev"], "uid": "7", "extra": {"x": ["y"]}},
        "object": {"metadata": {"generateName": "b-"}, "spec": {"size": 2}},
        "oldObject": None,
        "dryRun": True,
        "options": {"kind": "CreateOptions"},
    }
    return {"apiVersion": "admission.k8s.io/v1", "request": base | request}


@dataclass
class Plays:
    """A runner whose plays come to `result`; `None` hangs until it is cancelled."""

    result: RunResult | None = FINISHED
    requests: list[RunRequest] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    reported: list[tuple[str, str, str]] = field(default_factory=list)

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        self.requests.append(request)
        return _Handle(self)

    async def close(self) -> None: ...

    def admission_answered(
        self, gvk: Gvk, *, review: str, operation: str, result: str, seconds: float
    ) -> None:
        self.reported.append((review, operation, result))

    @asynccontextmanager
    async def issue(self, run_id: str, cr: Json, watch: Watch) -> AsyncIterator[RunAccess]:
        yield RunAccess(Path("/private/kubeconfig"))

    async def answer(self, webhook: Webhook, asked: Json | None = None) -> Json:
        view = engine_view(
            Path("/private"), watches=[WATCH], runner=self, issue_read_access=self.issue
        )
        answers = PlayAnswers(view, self.slots, self.admission_answered)
        found = await answers.answer(webhook, asked or review())
        assert found["kind"] == "AdmissionReview"
        response: Json = found["response"]
        return response

    slots: Slots = field(default_factory=lambda: Slots(Path("/private"), 1))


@dataclass
class _Handle:
    plays: Plays

    async def result(self) -> RunResult:
        if self.plays.result is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.plays.ended.append("cancelled")
                raise
        assert self.plays.result is not None
        return self.plays.result

    async def result_before_tidying(self) -> RunResult:
        return await self.result()

    def cancel(self, reason: str) -> None: ...
    def freeze(self) -> None: ...


def ended(**answer: Any) -> Plays:
    return Plays(replace(FINISHED, answer=PlayAnswer(**answer)))


def test_each_play_of_a_watch_is_a_webhook() -> None:
    assert (MUTATE.is_mutating, VALIDATE.is_mutating) == (True, False)
    assert (MUTATE.failure_policy, MUTATE.subresources) == ("Ignore", ("scale",))
    assert (VALIDATE.operations, VALIDATE.timeout_s) == (("CREATE", "DELETE"), 1)
    assert webhooks_of([replace(WATCH, of_extensions=(AdmissionKeys(Admission(None)),))]) == []


async def test_play_is_given_the_request_and_nothing_of_the_cr() -> None:
    plays = Plays()
    assert await plays.answer(VALIDATE) == {"uid": "u-1", "allowed": True}
    (request,) = plays.requests
    assert request.is_awaited
    assert request.variables is not None
    assert request.variables["admission"] == {
        "object": {"metadata": {"generateName": "b-"}, "spec": {"size": 2}},
        "old_object": None,
        "operation": "CREATE",
        "user": {"username": "jane", "groups": ["dev"], "uid": "7"},
        "namespace": "demo",
        "name": "",
        "subresource": "",
        "dry_run": True,
        "options": {"kind": "CreateOptions"},
    }
    assert (request.terms.play, request.terms.vars) == (ROLE, {"limit": 3})
    assert request.folder == Path("/private/0")
    assert request.timeout_s is not None
    assert 0.3 < request.timeout_s <= 0.5, "it must end before the API server hangs up"
    assert plays.reported == [("validate", "CREATE", "allowed")]


async def test_denials_are_reported_in_one_line_each_with_their_end_cut_off() -> None:
    plays = ended(denials=("too\nbig\x1b[31m", "x" * 9000), warnings=("look\nout", "y" * 9000))
    response = await plays.answer(VALIDATE)
    assert response["allowed"] is False
    status = response["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"].startswith("too big [31m; xxx")
    assert len(status["message"]) < 600
    assert [len(text) for text in response["warnings"]] == [8, 250]
    assert plays.reported == [("validate", "CREATE", "denied")]


async def test_merge_patch_becomes_a_json_patch() -> None:
    response = await ended(patch={"spec": {"size": 3}}).answer(MUTATE)
    assert response["patchType"] == "JSONPatch"
    steps = json.loads(base64.b64decode(response["patch"]))
    assert steps == [{"op": "replace", "path": "/spec/size", "value": 3}]


async def test_validation_changes_nothing() -> None:
    assert "patch" not in await ended(patch={"spec": {"size": 3}}).answer(VALIDATE)


FAILURE = TaskFailure("boom\nhere", "check", "roles/x/tasks/main.yml:3", detail="why")


@pytest.mark.parametrize(
    ("result", "reported"),
    [
        (replace(FINISHED, failures=(FAILURE,)), "failed: boom here: why (task `check`, roles/x"),
        (
            replace(FINISHED, ending=Ending.TIMED_OUT, reason_text="longer than 9 s; stopped"),
            "TimedOut: longer than 9 s; stopped",
        ),
        (
            replace(FINISHED, ending=Ending.NOT_STARTED, answer=None, reason_text="no role"),
            "no role",
        ),
        (replace(FINISHED, answer=PlayAnswer(patch="x")), "`admission_patch`: it is neither"),
        (replace(FINISHED, answer=PlayAnswer(unread="a `set_fact` has `no_log`")), "has `no_log`"),
    ],
)
async def test_play_without_a_verdict_is_reported(result: RunResult, reported: str) -> None:
    plays = Plays(result)
    with pytest.raises(NoVerdictError) as failure:
        await plays.answer(MUTATE)
    assert failure.value.message.startswith("role `basket_admission`")
    assert reported in failure.value.message
    assert "\n" not in failure.value.message
    assert plays.reported == [("mutate", "CREATE", "failed")]


async def test_play_that_ends_by_nothing_is_given_up() -> None:
    plays = Plays(None)
    with pytest.raises(NoVerdictError, match="took longer than the 1 s"):
        await plays.answer(VALIDATE)
    assert plays.ended == ["cancelled"]


async def test_play_whose_caller_hung_up_is_ended_and_its_place_is_free() -> None:
    plays = Plays(None)
    asking = asyncio.create_task(plays.answer(MUTATE))

    async def is_asked() -> bool:
        return bool(plays.requests)

    await eventually_async(is_asked)
    waiting = asyncio.create_task(plays.answer(VALIDATE))
    with pytest.raises(NoVerdictError, match="did not get its turn in 1 s") as failure:
        await waiting
    assert "--max-admission-runs" in failure.value.hint
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert plays.ended == ["cancelled"]
    plays.result = FINISHED
    assert (await plays.answer(VALIDATE))["allowed"] is True
