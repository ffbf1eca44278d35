"""Our own command line, run in the pod of an engine: what it prints comes out here.

The pod's own `rolecall` reads the control socket and the artifacts, so versions always fit and only the
right to exec is needed; a network API of the engine would need a listener, TLS and rights of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing

from rolecall.kube import Channel, Client, PodCommand, run_in_pod
from rolecall.remote_engine.operators import EnginePod, Operator

_ENV = "env"
_PROGRAM = "rolecall"
# Takes what the remote command prints.
TakeOutput = Callable[[Channel, bytes], None]


async def run_there(
    client: Client,
    place: tuple[Operator, EnginePod],
    words: Sequence[str],
    environ: Mapping[str, str],
    sink: TakeOutput,
) -> int:
    """Run `rolecall WORDS` in the pod; returns its exit code."""
    operator, pod = place
    variables = dict(environ)
    if pod.artifacts_dir:
        variables["ROLECALL_ARTIFACTS_DIR"] = pod.artifacts_dir
    assigned = [f"{name}={value}" for name, value in variables.items()]
    command = PodCommand(
        operator.namespace, pod.name, pod.container, [_ENV, *assigned, _PROGRAM, *words]
    )
    async with aclosing(run_in_pod(client, command)) as output:
        async for channel, data in output:
            if channel is Channel.ENDING:
                return int(data)
            sink(channel, data)
    raise AssertionError("the exit code comes last, or an error")
