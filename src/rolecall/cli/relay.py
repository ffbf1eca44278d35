"""Runs the command that was typed in a pod of the cluster's operator, for those that look into one.

Where replicas divide the CRs, the one is asked that has the CR in question; about all, each of them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from rolecall.cli.cluster import kinds_in, say_cluster
from rolecall.cli.kind_words import KindWords, choose_kind, cr_word
from rolecall.cli.pod_output import PodOutput
from rolecall.cli.terminal import RELAYED_VARIABLE, relayed_words, say, screen_of
from rolecall.errors import ClusterError, InputError
from rolecall.json_object import Json
from rolecall.kube import (
    Channel,
    Client,
    Credentials,
    CredentialsError,
    ForbiddenError,
    Timeouts,
    UnavailableError,
)
from rolecall.remote_engine import (
    EnginePod,
    NoOperatorError,
    Operator,
    PodChoice,
    TakeOutput,
    choose_pod,
    find_operator,
    run_there,
    verify_pod,
)
from rolecall.workqueue import Key, part_of

T = TypeVar("T")

# A person waits.
_TIMEOUTS = Timeouts(connect_s=5.0, total_s=20.0)
_PASSED_ON = ("NO_COLOR", "TERM")
_SEVERAL = 2


def relay_command(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    words: Sequence[str] | None = None,
    take: Callable[[bytes], object] | None = None,
) -> int | None:
    """The exit code of the remote command; None where no operator is named and none is found.

    It is what was typed, or `words`; its output is printed, or given to `take`.
    """
    asked = words_to_relay(arguments.typed if words is None else words)
    return _done(arguments, _relayed(arguments, environ, asked, take))


def gather(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    words: Sequence[str] | None = None,
    *,
    also_of_one: bool = False,
) -> list[Json] | int | None:
    """Of pods that divide the CRs, what each prints as JSON: of what was typed, or of `words`.

    Where one pod has all CRs: an exit code, as of `relay_command` with what was typed; with
    `also_of_one`, what it prints as JSON. Where none gave an answer: an exit code.
    """
    asked = words_to_relay(arguments.typed if words is None else words)
    asking = _gathered(arguments, environ, [*asked, "-o", "json"], also_of_one=also_of_one)
    return _done(arguments, asking)


def _done(arguments: argparse.Namespace, asking: Coroutine[Any, Any, T]) -> T | None:
    try:
        return asyncio.run(asking)
    except (NoOperatorError, CredentialsError, UnavailableError):
        # Who named no operator may not have meant one.
        if arguments.operator:
            raise
        return None


def words_to_relay(typed: Sequence[str]) -> list[str]:
    """What was typed, without the choice of the engine, which is made here."""
    words, kept = iter(typed), []
    for word in words:
        if word == "--operator":
            next(words, None)
        elif not word.startswith("--operator="):
            kept.append(word)
    return kept


async def _relayed(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    words: Sequence[str],
    take: Callable[[bytes], object] | None,
) -> int:
    async with _client(environ) as client:
        operator, choice = await _chosen(client, arguments)
        _introduce(operator, choice)
        return await _run_in_one(client, (operator, choice), words, environ, take)


async def _gathered(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    words: Sequence[str],
    *,
    also_of_one: bool,
) -> list[Json] | int:
    async with _client(environ) as client:
        operator, choice = await _chosen(client, arguments)
        if len(choice.dividing) < _SEVERAL:
            _introduce(operator, choice)
            place = (operator, choice)
            if not also_of_one:
                typed = words_to_relay(arguments.typed)
                return await _run_in_one(client, place, typed, environ, None)
            pieces: list[bytes] = []
            code = await _run_in_one(client, place, words, environ, pieces.append)
            return code or _json_in(pieces, choice.pod)
        pods = ", ".join(pod.name for pod in choice.dividing)
        say(f"{len(choice.dividing)} engines of operator {operator} divide the CRs: {pods}")
        asking = [_json_of(client, (operator, pod), words, environ) for pod in choice.dividing]
        answers = await asyncio.gather(*asking)
        found = [row for answer in answers if not isinstance(answer, int) for row in answer]
        return found or max(answer for answer in answers if isinstance(answer, int))


async def _json_of(
    client: Client,
    place: tuple[Operator, EnginePod],
    words: Sequence[str],
    environ: Mapping[str, str],
) -> list[Json] | int:
    """What one pod prints; where it gives no answer, an exit code, after a message to the user."""
    pieces: list[bytes] = []
    sink = partial(_take_or_print, pieces.append, PodOutput())
    try:
        code = await run_there(client, place, words, _variables(environ), sink)
        if code == 0:
            return _json_in(pieces, place[1])
        why = f"exit code {code}"
    except ClusterError as failure:
        code, why = failure.exit_code, failure.message
    say(f"pod {place[1].name} did not answer for its part of the CRs: {why}")
    return code


def _json_in(pieces: Sequence[bytes], pod: EnginePod) -> list[Json] | int:
    with contextlib.suppress(ValueError):
        document = json.loads(b"".join(pieces))
        if isinstance(document, dict):
            return [document]
    say(f"pod {pod.name} runs a release that answers otherwise")
    return 1


async def _chosen(client: Client, arguments: argparse.Namespace) -> tuple[Operator, PodChoice]:
    async def shard_asked(count: int) -> int | None:
        key = await _key_asked(client, arguments)
        return None if key is None else part_of(key, count)

    say_cluster(client.credentials)
    operator = await find_operator(client, arguments.operator or "")
    choice = await choose_pod(client, operator, shard_asked)
    for pod in {each.name: each for each in (choice.pod, *choice.dividing)}.values():
        await check_pod(client, operator, pod)
    return operator, choice


async def check_pod(client: Client, operator: Operator, pod: EnginePod) -> None:
    """Raises `ClusterError` for a pod of others; warns where you may not read whose it is."""
    try:
        await verify_pod(client, operator, pod)
    except ForbiddenError as failure:
        place = f"{operator.namespace}/{pod.name}"
        say(f"pod {place} is not verified: you may not {failure.target}; do not trust its output")


async def _key_asked(client: Client, arguments: argparse.Namespace) -> Key | None:
    """The CR that was named as KIND/NAME, so that the replica which has it can be asked.

    None: none was named, or its kind is not known. Then any replica answers, and reports what is wrong.
    """
    what = getattr(arguments, "what", None)
    if not what:
        return None
    try:
        word = cr_word(what)
        kind = choose_kind(word.kind, await kinds_in(client))
        if kind is None or not word.name:
            return None
        place = await _namespace_of(client, kind, word.name, arguments.namespace)
    except (InputError, ClusterError):
        return None
    return None if place is None else Key(kind.gvk, place, word.name)


async def _namespace_of(client: Client, kind: KindWords, name: str, asked: str) -> str | None:
    """Empty for a kind without namespaces; None: there is none of this name, or several."""
    if not kind.is_namespaced:
        return ""
    if asked:
        return asked
    selector = f"metadata.name={name}"
    pages = client.pages(kind.gvk, field_selector=selector, metadata_only=True)
    found = {str(item["metadata"]["namespace"]) async for page in pages for item in page.items}
    return found.pop() if len(found) == 1 else None


async def _run_in_one(
    client: Client,
    place: tuple[Operator, PodChoice],
    words: Sequence[str],
    environ: Mapping[str, str],
    take: Callable[[bytes], object] | None,
) -> int:
    """In the chosen pod; of those that divide the CRs, in the next one where that does not answer."""
    operator, choice = place
    shown = PodOutput()
    sink = _Sink(shown if take is None else partial(_take_or_print, take, shown))
    others = [pod for pod in choice.dividing if pod != choice.pod]
    for pod, following in pairwise([choice.pod, *others, None]):
        assert pod is not None, "None is the last"
        try:
            return await run_there(client, (operator, pod), words, _variables(environ), sink)
        except ForbiddenError:
            raise
        except ClusterError as failure:
            if following is None or sink.has_begun:
                raise
            say(f"pod {pod.name} did not answer ({failure.message}); asking {following.name}")
    raise AssertionError("the last pod answers or raises")


class _Sink:
    """Where output goes; knows whether there was any, since what was shown is not shown again."""

    def __init__(self, sink: TakeOutput) -> None:
        self._sink = sink
        self.has_begun = False

    def __call__(self, channel: Channel, data: bytes) -> None:
        self.has_begun = True
        self._sink(channel, data)


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    variables = {name: environ[name] for name in _PASSED_ON if name in environ}
    variables[RELAYED_VARIABLE] = relayed_words(screen_of(environ))
    return variables


def _client(environ: Mapping[str, str]) -> Client:
    return Client(Credentials.load(environ), timeouts=_TIMEOUTS)


def _introduce(operator: Operator, choice: PodChoice) -> None:
    place = f"{operator.namespace}/{choice.pod.name}"
    say(f"engine of pod {place} {choice.why} ({_about(operator)})")


def _about(operator: Operator) -> str:
    replicas = f"{len(operator.pods)} pods" if len(operator.pods) > 1 else "1 pod"
    return f"operator {operator.name}, {replicas}"


def _take_or_print(
    take: Callable[[bytes], object], shown: PodOutput, channel: Channel, data: bytes
) -> None:
    if channel is Channel.STDERR:
        shown(channel, data)
    else:
        take(data)
