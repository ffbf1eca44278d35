"""Filters that read what became of backups: schedules, Jobs, pods, and what containers printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

_ENDS = {"Complete": "succeeded", "Failed": "failed"}
_WORDS = 300  # of a container that failed
_NAMES = "SUN MON TUE WED THU FRI SAT", " JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"
_RANGES = (0, 59), (0, 23), (1, 31), (1, 12), (0, 6)
_DAYS = 5 * 366  # a leap year comes at least so often, but for 1900 and 2100


def etcdcluster_jobs(jobs: list[Json]) -> list[Json]:
    """Jobs, oldest first, with their `state` (succeeded, failed or active) and when they `ended`."""
    found = []
    for job in sorted(jobs, key=lambda each: str(each["metadata"].get("creationTimestamp", ""))):
        status = job.get("status", {})
        conditions = [one for one in status.get("conditions") or [] if one["status"] == "True"]
        states = [_ENDS[one["type"]] for one in conditions if one["type"] in _ENDS]
        reported = {"state": "active", "ended": ""}
        if states:
            ended = status.get("completionTime") or status["conditions"][-1]["lastTransitionTime"]
            reported = {"state": states[0], "ended": ended}
        found.append({**job, **reported})
    return found


def etcdcluster_rows(text: str) -> list[Json]:
    """What rclone lists; times without fractions, which sort wrongly beside those that have none."""
    found = etcdcluster_printed(text)
    return [
        {"name": row["Name"], "time": f"{row['ModTime'][:19]}Z", "size": row["Size"]}
        for row in (found if isinstance(found, list) else [])
    ]


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
    said = (words for pod in reversed(pods) for words in _pod_words(pod.get("status", {})))
    return next(filter(None, said), "")


def _pod_words(status: Json) -> Iterator[str]:
    if status.get("phase") == "Failed" and status.get("reason"):
        yield _said(status)  # by its node: evicted, preempted, past its deadline
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or []:
            if words := _container_words(container):
                yield f"`{container['name']}`: {words}"
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield str(condition.get("message", ""))[:_WORDS]


def _container_words(container: Json) -> str:
    state: Json = container.get("state") or {}
    ended: Json = state.get("terminated") or {}
    if ended.get("exitCode"):
        return _last_words(ended.get("message", "")) or f"exit code {ended['exitCode']}"
    waiting: Json = state.get("waiting") or {}
    if waiting.get("reason") not in (None, "", "PodInitializing", "ContainerCreating"):
        return _said(waiting)
    return ""


def _said(reported: Json) -> str:
    return f"{reported['reason']}: {reported.get('message', '')}"[:_WORDS]


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


def etcdcluster_due(schedule: str, now: float) -> str:
    """The last moment up to `now` (seconds since 1970) that cron's `schedule` names, in UTC."""
    fields = schedule.split()
    minutes, hours, days, months, weekdays = map(_numbers, fields, _RANGES)
    is_either = fields[2][0] not in "*?" and fields[4][0] not in "*?"
    end = datetime.fromtimestamp(now, UTC)
    for back in range(_DAYS):
        day = end - timedelta(days=back)
        fits = (day.day in days, day.isoweekday() % 7 in weekdays)
        if day.month not in months or not (any(fits) if is_either else all(fits)):
            continue
        for hour in sorted(hours, reverse=True):
            for minute in sorted(minutes, reverse=True):
                moment = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
                if moment <= end:
                    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ""


def _numbers(field: str, limits: tuple[int, int]) -> set[int]:
    """What one field of cron stands for."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low = limits[0] if first in ("*", "?") else _number(first)
        high = limits[1] if first in ("*", "?") or (step and not last) else _number(last or first)
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(text: str) -> int:
    names = next((each.split(" ") for each in _NAMES if text.upper() in each.split(" ")), None)
    return names.index(text.upper()) if names else int(text)


class FilterModule:
    """How Ansible finds the filters: all functions here that have the role's name."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {name: each for name, each in globals().items() if name.startswith("etcdcluster_")}
