"""The operator of the project as the cluster sees it: what it is called, and whether it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rolecall_dev.doctor.surroundings import Surroundings
from rolecall_dev.sources import Findings, as_map, read_folder

_LABEL = "rolecall.dev/engine"
_FLAG = "leader-election-id"
_VARIABLE = "ROLECALL_LEADER_ELECTION_ID"
_FOLDERS = ("config/manager", "config/default")


def names_of_operator(surroundings: Surroundings) -> set[str]:
    """By the Lease that its Deployment names, or the settings here: label and prefix are the same."""
    found = {surroundings.settings.election.id}
    for folder in _FOLDERS:
        path = surroundings.project / folder
        if path.is_dir():
            for document in read_folder(path, surroundings.project, Findings()):
                found.update(_ids(document.data))
    return found - {""}


def _ids(deployment: Any) -> Iterator[str]:
    pod: Any = deployment
    for step in ("spec", "template", "spec"):
        pod = as_map(pod).get(step)
    for container in as_map(pod).get("containers") or ():
        for row in as_map(container).get("env") or ():
            if as_map(row).get("name") == _VARIABLE:
                yield str(row.get("value") or "")
        for word in as_map(container).get("args") or ():
            name, _, value = str(word).lstrip("-").partition("=")
            if name == _FLAG:
                yield value


async def running_engines(surroundings: Surroundings) -> list[str]:
    """Pods of the operator that run, as namespace/name; of any operator where its name is not known."""
    names = names_of_operator(surroundings)
    pods = await surroundings.read(f"/api/v1/pods?labelSelector={_LABEL.replace('/', '%2F')}")
    return [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods.get("items", ())
        if not pod["metadata"].get("deletionTimestamp")
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        and (not names or pod["metadata"]["labels"][_LABEL] in names)
    ]
