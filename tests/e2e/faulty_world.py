"""A kind that is held by a finalizer, and what must be true of its objects whatever broke meanwhile."""

from __future__ import annotations

from pathlib import Path

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, is_gone, is_reported, is_successful, kind
from tests.fixtures.eventually import eventually, eventually_async

FAULTS = Path(__file__).parent / "faults"
KEPT = kind("Kept")
FINALIZER = "e2e.rolecall.dev/kept"


def kept(namespace: str, name: str, word: str = "one", **spec: object) -> Json:
    """An object whose run writes the word into a ConfigMap."""
    return cr(KEPT, namespace, name, word=word, **spec)


async def converged(api: Client, namespace: str, name: str, word: str) -> None:
    """Wait until spec, status, finalizer and what was made agree."""
    await eventually_async(
        lambda: _state(api, namespace, name),
        lambda seen: seen == _good(word),
        ignoring=(ClusterError,),  # not there yet, or a server that comes back just now
    )


def _good(word: str) -> Json:
    return {"spec": word, "made": word, "is_reported": True, "is_held": True}


async def _state(api: Client, namespace: str, name: str) -> Json:
    seen = await api.get(KEPT, namespace, name)
    made = await api.get(CONFIG_MAP, namespace, f"{name}-made")
    return {
        "spec": seen["spec"]["word"],
        "made": made["data"]["word"],
        "is_reported": is_reported(seen) and is_successful(seen),
        "is_held": FINALIZER in seen["metadata"].get("finalizers", []),
    }


async def gone_with_all(api: Client, namespace: str, name: str) -> None:
    """Wait until the object is gone, and what it made."""

    async def is_over() -> bool:
        is_kept_gone = await is_gone(api, KEPT, namespace, name)
        return is_kept_gone and await is_gone(api, CONFIG_MAP, namespace, f"{name}-made")

    await eventually_async(is_over, ignoring=(ClusterError,))


def at_rest(engine: EngineProcess) -> None:
    """Wait until no key waits, is in backoff, or is at work."""
    eventually(
        lambda: [
            engine.metric(name)
            for name in (
                "rolecall_queue_depth",
                "rolecall_queue_backing_off",
                "controller_runtime_active_workers",
            )
        ],
        lambda seen: not any(seen),
    )


def doubled_runs(trail: Path) -> list[str]:
    """Runs of one object that ended after a later one had begun: both were at work."""
    lines = trail.read_text().splitlines() if trail.exists() else []
    began: list[str] = []
    doubled = []
    for line in lines:
        what, _, run = line.partition(" ")
        if what == "begins":
            began.append(run)
        elif began[-1] != run:
            doubled.append(run)
    return doubled


def ended_runs(trail: Path, state: str) -> int:
    """How many runs came to their end, of finalizers (`absent`) or of others (`present`)."""
    text = trail.read_text() if trail.exists() else ""
    return text.count(f"ends {state}")


def finalizer_runs(trail: Path) -> list[str]:
    """What finalizer runs did, in order: `begins`, and `ends` of those that came to their end."""
    lines = trail.read_text().splitlines() if trail.exists() else []
    return [what for what, state, _ in map(str.split, lines) if state == "absent"]
