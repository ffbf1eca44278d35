"""WebSockets to what a pod offers: programs to run in it, ports to reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from rolecall.errors import ClusterError
from rolecall.kube.client import Client
from rolecall.kube.errors import ForbiddenError, Target, UnavailableError, error_for
from rolecall.kube.later import aiohttp


@asynccontextmanager
async def pod_socket(
    client: Client, target: Target, path: str, protocols: Sequence[str], *, who: str
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open while the context lasts; raises `ClusterError`, also for what breaks off in it.

    `who`: needs the right, where it is missing: `the user of your kubeconfig`.
    """
    try:
        async with client.web_socket(path, protocols) as socket:
            yield socket
    except aiohttp.WSServerHandshakeError as refusal:
        raise _refused(target, refusal, who) from refusal
    except (aiohttp.ClientError, TimeoutError, OSError) as failure:
        raise UnavailableError(f"could not reach pod `{target.name}`: {failure}") from failure


def _refused(target: Target, refusal: aiohttp.WSServerHandshakeError, who: str) -> ClusterError:
    error = error_for(target, refusal.status, b"")
    if isinstance(error, ForbiddenError):
        error.hint = (
            f"{who} needs, in namespace `{target.namespace}`, the rule"
            f' {{apiGroups: [""], resources: [pods/{target.subresource}], verbs: [create, get]}}'
        )
    return error
