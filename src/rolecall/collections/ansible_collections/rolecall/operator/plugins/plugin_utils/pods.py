"""Says why pods are not ready, in the words of the pods themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.rolecall.operator.plugins.plugin_utils.objects import listed

MOST_CHARACTERS = 400  # room for an image's name and a registry's answer
_MOST_OF_ONE = 250
_MOST_NAMED = 3
# What passes by itself and says little: reported only where there is nothing better.
_ON_ITS_WAY = frozenset({"ContainerCreating", "PodInitializing"})
_TIME = re.compile(r"\b(?:\d+(?:\.\d+)?(?:ms|h|m|s))+\b")
_PANICS = ("panic:", "fatal error:")
# Conditions of what makes pods, and the status that reports a failure.
_FAILURES = (("ReplicaFailure", "True"), ("Failed", "True"), ("Progressing", "False"))


def is_ready(pod: Any) -> bool:
    """Whether it takes part: its condition `Ready` is true, and it is not being deleted."""
    if not isinstance(pod, Mapping) or _map(pod.get("metadata")).get("deletionTimestamp"):
        return False
    return _condition(pod, "Ready").get("status") == "True"


def why_not_ready(objects: Any) -> str:
    """One short text about all of them; empty where all are ready.

    Objects are pods, and also what makes them (ReplicaSet, Deployment, Job ...): those report pods that
    could not even be made.
    """
    found = [(*_why(each), each) for each in listed(objects)]
    alike: dict[str, list[tuple[str, str]]] = {}
    for _rank, why, each in sorted((row for row in found if row[1]), key=lambda row: row[0]):
        alike.setdefault(_without_its_own(why, each), []).append((_name(each), why))
    groups = [*alike.values()]
    said = [_said_once(group) for group in groups[:_MOST_NAMED]]
    more = sum(map(len, groups[_MOST_NAMED:]))
    return _shortened("; ".join(said), MOST_CHARACTERS) + (f"; {more} more" if more else "")


def _said_once(group: list[tuple[str, str]]) -> str:
    """The words of the first, and how many others say the same."""
    name, why = group[0]
    others = f" and {len(group) - 1} more" if len(group) > 1 else ""
    return f"{name}{others}: {why}"


def _without_its_own(why: str, each: Mapping[str, Any]) -> str:
    """Words without what differs from one object to another: its name, its uid, how long it waits."""
    for own in (_name(each), str(_map(each.get("metadata")).get("uid") or "")):
        why = re.sub(rf"(?<![^\W_]){re.escape(own)}(?![^\W_])", "", why) if own else why
    return _TIME.sub("", why)


def _why(each: Mapping[str, Any]) -> tuple[int, str]:
    """How much it says, the most telling first, and what; empty where there is nothing to say."""
    is_maker = "template" in _map(each.get("spec"))
    rank, why = _why_of_maker(each) if is_maker else _why_of_pod(each)
    return rank, _shortened(" ".join(why.split()), _MOST_OF_ONE)


def _why_of_maker(each: Mapping[str, Any]) -> tuple[int, str]:
    for name, status in _FAILURES:
        found = _condition(each, name)
        if found.get("status") == status:
            return 0, _said(found)
    return 0, ""


def _why_of_pod(pod: Mapping[str, Any]) -> tuple[int, str]:
    status = _map(pod.get("status"))
    if is_ready(pod):
        return 0, ""
    if _map(pod.get("metadata")).get("deletionTimestamp"):
        return 3, "is being deleted"
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return 0, _said(scheduled)
    if status.get("phase") == "Failed" and status.get("reason"):
        return 0, _said(status)  # the node's words: evicted, preempted, past its deadline
    if status.get("phase") == "Succeeded":
        return 1, "has ended"
    return min(_whys_of_containers(pod), default=_why_of_rest(pod))


def _whys_of_containers(pod: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    status, spec = _map(pod.get("status")), _map(pod.get("spec"))
    probed = {
        each.get("name"): each for each in _maps(spec.get("containers")) if each.get("readinessProbe")
    }
    for each in (
        *_maps(status.get("initContainerStatuses")),
        *_maps(status.get("containerStatuses")),
    ):
        state = _map(each.get("state"))
        if waiting := _map(state.get("waiting")):
            yield _why_waiting(each, waiting)
        elif (ended := _map(state.get("terminated"))) and ended.get("exitCode"):
            yield 0, f"container `{each.get('name')}` ended: {_exit(ended)}"
        elif "running" in state and not each.get("ready") and each.get("name") in probed:
            yield 1, _unready(each)


def _why_waiting(container: Mapping[str, Any], waiting: Mapping[str, Any]) -> tuple[int, str]:
    last = _map(_map(container.get("lastState")).get("terminated"))
    reason = str(waiting.get("reason") or "waiting")
    if reason == "CrashLoopBackOff" and last:
        return 0, f"{reason}: container `{container.get('name')}` ended: {_exit(last)}"
    return (2 if reason in _ON_ITS_WAY else 0), _said({**waiting, "reason": reason})


def _unready(container: Mapping[str, Any]) -> str:
    probe = "startup" if container.get("started") is False else "readiness"
    return f"container `{container.get('name')}` is running, but its {probe} probe has not succeeded"


def _exit(ended: Mapping[str, Any]) -> str:
    reason = ended.get("reason")
    text = f"exit code {ended.get('exitCode')}"
    if reason and reason not in ("Error", "Completed"):
        text += f" ({reason})"
    words = _last_words(str(ended.get("message") or ""))
    return f"{text}: {words}" if words else text


def _last_words(message: str) -> str:
    """A short message whole; of the end of a log, which a pod may give instead, what matters most."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if len(" ".join(lines)) <= _MOST_OF_ONE:
        return " ".join(lines)
    # Go prints where all was after the reason for which it panicked.
    why = [line for line in lines if line.startswith(_PANICS)]
    return _said_in_json((why or lines[-1:])[0])[-_MOST_OF_ONE:]


def _said_in_json(line: str) -> str:
    """What a line of a structured log says, without its time, place and stack."""
    try:
        row = _map(json.loads(line))
    except ValueError:
        return line
    said = (row.get("msg"), row.get("error"))
    return ": ".join(str(part) for part in said if part) or line


def _why_of_rest(pod: Mapping[str, Any]) -> tuple[int, str]:
    """Of readiness gates, of a node that is gone, or of a pod that is not scheduled yet."""
    condition = _condition(pod, "Ready")
    if condition.get("message"):
        return 2, _said(condition)
    return 3, f"is {str(_map(pod.get('status')).get('phase') or 'Pending').lower()} and not ready"


def _said(state: Mapping[str, Any]) -> str:
    parts = (state.get("reason"), state.get("message"))
    return ": ".join(str(part) for part in parts if part)


def _condition(each: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    conditions = _maps(_map(each.get("status")).get("conditions"))
    return next((found for found in conditions if found.get("type") == name), {})


def _name(each: Mapping[str, Any]) -> str:
    return str(_map(each.get("metadata")).get("name") or "?")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 4] + " ..."
