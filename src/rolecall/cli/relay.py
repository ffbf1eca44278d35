"""Runs the command that was typed in the pod of the cluster's engine, for those that look into one."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rolecall.cli.cluster_line import say_cluster
from rolecall.cli.terminal import RELAYED_VARIABLE, relayed_words, say, screen_of
from rolecall.kube import (
    Channel,
    Client,
    Credentials,
    CredentialsError,
    Timeouts,
    UnavailableError,
)
from rolecall.remote_engine import NoOperatorError, Operator, find_operator, leading_pod, run_there

# A person waits.
_TIMEOUTS = Timeouts(connect_s=5.0, total_s=20.0)
_PASSED_ON = ("NO_COLOR", "TERM")


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
    try:
        return asyncio.run(_relayed(arguments, environ, asked, take))
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
    credentials = Credentials.load(environ)
    async with Client(credentials, timeouts=_TIMEOUTS) as client:
        say_cluster(credentials)
        operator = await find_operator(client, arguments.operator or "")
        pod, lead = await leading_pod(client, operator)
        say(f"engine of pod {operator.namespace}/{pod.name} {lead} ({_about(operator)})")
        variables = {name: environ[name] for name in _PASSED_ON if name in environ}
        variables[RELAYED_VARIABLE] = relayed_words(screen_of(environ))
        sink = _print if take is None else partial(_take_or_print, take)
        return await run_there(client, (operator, pod), words, variables, sink)


def _about(operator: Operator) -> str:
    replicas = f"{len(operator.pods)} pods" if len(operator.pods) > 1 else "1 pod"
    return f"operator {operator.name}, {replicas}"


def _take_or_print(take: Callable[[bytes], object], channel: Channel, data: bytes) -> None:
    if channel is Channel.STDERR:
        _print(channel, data)
    else:
        take(data)


def _print(channel: Channel, data: bytes) -> None:
    stream = sys.stderr if channel is Channel.STDERR else sys.stdout
    stream.buffer.write(data)
    stream.flush()
