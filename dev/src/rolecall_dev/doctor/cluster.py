"""Which cluster it is, where that is written, and whether it answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import RolecallError
from rolecall.kube import Credentials
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings
from rolecall_dev.localcluster import all_clusters

_START_ONE = "start it, or set KUBECONFIG; `rolecall cluster up` starts one on this machine"


async def look_at_cluster(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line, and one more where a cluster of this machine is up and not the one that is used."""
    try:
        server = str(Credentials.load(surroundings.environment).server)
    except RolecallError as error:
        return [to_do(error.message, error.hint or _START_ONE)]
    origin = _origin(surroundings)
    try:
        reached = await surroundings.cluster()
    except RolecallError as error:
        what = f"{server} does not answer ({origin}): {error.message}"
        return [to_do(what, error.hint or _START_ONE), *_others(server, origin)]
    seen = [done(f"{server} answers, {reached.version} ({origin})")]
    return [*seen, *_others(server, origin)]


def _origin(surroundings: Surroundings) -> str:
    """Where it is written which cluster this is."""
    environment = surroundings.environment
    if named := environment.get("KUBECONFIG"):
        first = Path(named.split(os.pathsep)[0])
        return f"KUBECONFIG is {first}"
    home = Path(environment.get("HOME") or "/") / ".kube" / "config"
    return f"from {home}" if home.is_file() else "the pod's own"


def _others(server: str, origin: str) -> list[Diagnosis]:
    """What `rolecall cluster up` started, where something else is used: easily mixed up."""
    running = [status for status in all_clusters() if status.state in {"ready", "ailing"}]
    if not running or any(status.url == server for status in running):
        return []
    names = ", ".join(f"`{status.name}`" for status in running)
    return [
        done(f"note: the local cluster {names} runs too, and is not the one that is used: {origin}")
    ]
