"""Reports whether plays start warm here: in a metric, `readyz?verbose` and on the operator's own pod.

Going the stock way costs seconds and nothing else, so nothing here makes the engine unready. The Event
is posted by the replica that leads, since no other one may write.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.metrics import EngineMetrics
from rolecall.reconcile import EventRecorder
from rolecall.runner import WarmState, WarmSupport

_POD = Gvk("", "v1", "Pod")
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class WarmStateReport:
    """What is known of it; `update` may be called from any thread."""

    def __init__(
        self,
        metrics: EngineMetrics,
        events: EventRecorder,
        find_pod: Callable[[], Awaitable[Json | None]],
        wait_leading: Callable[[], Awaitable[object]],
    ) -> None:
        """Call it on the loop."""
        self._loop = asyncio.get_running_loop()
        self._metrics = metrics
        self._events = events
        self._find_pod = find_pod
        self._wait_leading = wait_leading
        self._last: WarmSupport | None = None
        self._posting: set[asyncio.Task[None]] = set()

    def update(self, support: WarmSupport) -> None:
        """The state from now on."""
        with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
            self._loop.call_soon_threadsafe(self._take, support)

    def note(self) -> str:
        """For the readiness probe; empty: nothing to say."""
        if self._last is None or not self._last.reason:
            return ""
        return f"every run starts ansible-playbook anew (stock): {self._last.reason}"

    async def close(self) -> None:
        for task in self._posting:
            task.cancel()
        await asyncio.gather(*self._posting, return_exceptions=True)

    def _take(self, support: WarmSupport) -> None:
        self._last = support
        self._metrics.warm_state(support.state.value)
        if support.state is WarmState.REFUSED:
            task = self._loop.create_task(self._post(support), name="warm state")
            self._posting.add(task)
            task.add_done_callback(self._posting.discard)

    async def _post(self, support: WarmSupport) -> None:
        await self._wait_leading()
        if (pod := await self._find_pod()) is not None:
            message = (
                f"every run starts ansible-playbook anew (stock), which is slower: {support.reason}"
            )
            self._events.record(pod, kind="Warning", reason="NotWarm", message=message)


async def find_own_pod(
    client: Client, environment: Mapping[str, str], namespace_file: Path = _NAMESPACE_FILE
) -> Json | None:
    """The pod that we run in, as far as we may know it; None: we run in none."""
    environment = {**_known_in_every_pod(namespace_file), **environment}
    name = environment.get("POD_NAME", "")
    namespace = environment.get("OPERATOR_NAMESPACE") or environment.get("POD_NAMESPACE", "")
    if not name or not namespace:
        return None
    with contextlib.suppress(ClusterError):  # no right to read pods: the Event lacks its uid
        pod = await client.get(_POD, namespace, name)
        return {**pod, "apiVersion": _POD.api_version, "kind": _POD.kind}
    uid = environment.get("POD_UID", "")
    metadata = {"name": name, "namespace": namespace, "uid": uid}
    return {"apiVersion": _POD.api_version, "kind": _POD.kind, "metadata": metadata}


def _known_in_every_pod(namespace_file: Path) -> dict[str, str]:
    """Where the Deployment does not say it; empty outside of pods."""
    try:
        namespace = namespace_file.read_text().strip()
    except OSError:
        return {}
    return {"POD_NAMESPACE": namespace, "POD_NAME": socket.gethostname()}
