"""Whether a pod is the operator's, before it is given or believed anything."""

from __future__ import annotations

from rolecall.cli.terminal import say
from rolecall.kube import Client, ForbiddenError
from rolecall.remote_engine import EnginePod, Operator, verify_pod


async def check_pod(client: Client, operator: Operator, pod: EnginePod) -> None:
    """Raises `ClusterError` for a pod of others; warns where you may not read whose it is."""
    try:
        await verify_pod(client, operator, pod)
    except ForbiddenError as failure:
        place = f"{operator.namespace}/{pod.name}"
        say(f"pod {place} is not verified: you may not {failure.target}; do not trust its output")
