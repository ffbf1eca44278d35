"""Filters that read what became of backups: Jobs, their pods, and what containers printed."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

_SHOWN = 100  # snapshots in a status
_WORDS = 300  # of a container that failed


def etcdcluster_jobs(jobs: list[Json], part: str) -> list[Json]:
    """Those Jobs with this part, oldest first, which are not on their way out."""
    found = [
        job
        for job in jobs
        if job["metadata"]["labels"].get("mycompany.com/part") == part
        and not job["metadata"].get("deletionTimestamp")
    ]
    return sorted(found, key=lambda job: str(job["metadata"].get("creationTimestamp", "")))


def etcdcluster_job_state(job: Json) -> str:
    """`succeeded`, `failed` or `active`; empty where there is no Job."""
    if not job:
        return ""
    for condition in job.get("status", {}).get("conditions") or []:
        if condition["status"] == "True" and condition["type"] in ("Complete", "Failed"):
            return "succeeded" if condition["type"] == "Complete" else "failed"
    return "active"


def etcdcluster_ended(jobs: list[Json]) -> Json:
    """The backup that ended last; empty where none has."""
    ended = [job for job in jobs if etcdcluster_job_state(job) in ("succeeded", "failed")]
    return max(ended, key=etcdcluster_ended_at, default={})


def etcdcluster_ended_at(job: Json) -> str:
    """When a Job ended."""
    status: Json = job["status"]
    return str(status.get("completionTime") or status["conditions"][-1]["lastTransitionTime"])


def etcdcluster_rows(text: str) -> list[Json]:
    """What rclone lists, newest first."""
    found = etcdcluster_printed(text)
    rows = [
        {"name": row["Name"], "time": _seconds(row["ModTime"]), "size": row["Size"]}
        for row in (found if isinstance(found, list) else [])
    ]
    return sorted(rows, key=lambda row: str(row["time"]), reverse=True)[:_SHOWN]


def _seconds(moment: str) -> str:
    """Without fractions, which sort wrongly beside times that have none; in UTC."""
    return f"{moment[:19]}Z"


def etcdcluster_printed(text: str) -> Any:
    """The JSON in what a container printed, where there is any; lines of a log may be around it."""
    for line in [text, *text.splitlines()]:
        try:
            return json.loads(line)
        except ValueError:
            continue
    return {}


def etcdcluster_pods_words(pods: list[Json]) -> str:
    """Why the pods of a Job failed or do not start, in the words of the container at fault."""
    for pod in reversed(pods):
        status: Json = pod.get("status", {})
        containers = [
            *(status.get("initContainerStatuses") or []),
            *(status.get("containerStatuses") or []),
        ]
        for container in containers:
            if words := _container_words(container):
                return f"`{container['name']}`: {words}"
        for condition in status.get("conditions") or []:
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return str(condition.get("message", ""))[:_WORDS]
    return ""


def _container_words(container: Json) -> str:
    state: Json = container.get("state") or {}
    ended: Json = state.get("terminated") or {}
    if ended.get("exitCode"):
        return _last_words(ended.get("message", "")) or f"exit code {ended['exitCode']}"
    waiting: Json = state.get("waiting") or {}
    if waiting.get("reason") not in (None, "", "PodInitializing", "ContainerCreating"):
        return f"{waiting['reason']}: {waiting.get('message', '')}"[:_WORDS]
    return ""


def _last_words(log: str) -> str:
    """The last line that says something, without what only helps those who wrote the program."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith(("{", "Usage:", "github.com/", "\t"))]
    return (plain or lines or [""])[-1][-_WORDS:]


def etcdcluster_marked(found: list[Json], name: str, value: str) -> list[str]:
    """Names of those objects whose annotation has this value."""
    return [
        each["metadata"]["name"]
        for each in found
        if (each["metadata"].get("annotations") or {}).get(name, "") == value
    ]


def etcdcluster_containers(specs: list[Json], wanted: list[str]) -> list[str]:
    """Of these containers, those that the pods have."""
    names = {
        container["name"]
        for spec in specs
        for container in [*(spec.get("initContainers") or []), *spec["containers"]]
    }
    return [name for name in wanted if name in names]


def etcdcluster_is_orphaned(cr: Json, budgets: list[Json]) -> bool:
    """Whether the CR is deleted in the way that leaves its objects there.

    The garbage collector takes the CR out of all their owners, which it does to no object that belongs
    to the CR alone when it deletes: the disruption budget is such a one.
    """
    metadata = cr["metadata"]
    if "orphan" in (metadata.get("finalizers") or []):
        return True
    return any(
        metadata["uid"] not in [owner["uid"] for owner in owners]
        for owners in (budget["metadata"].get("ownerReferences") or [] for budget in budgets)
    )


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_containers": etcdcluster_containers,
            "etcdcluster_ended": etcdcluster_ended,
            "etcdcluster_ended_at": etcdcluster_ended_at,
            "etcdcluster_is_orphaned": etcdcluster_is_orphaned,
            "etcdcluster_job_state": etcdcluster_job_state,
            "etcdcluster_jobs": etcdcluster_jobs,
            "etcdcluster_printed": etcdcluster_printed,
            "etcdcluster_rows": etcdcluster_rows,
            "etcdcluster_pods_words": etcdcluster_pods_words,
            "etcdcluster_marked": etcdcluster_marked,
        }
