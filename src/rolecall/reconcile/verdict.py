"""Says what a run came to in the words of a condition.

A failure's message begins with the very text that the Go operator writes, because people and tests
match on it, and goes on with what it leaves out: task, place, run. Where the text is one line, so is
the whole. Secrets were taken out before; here texts are only kept from filling the object.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.reconcile.shortened import bounded, one_line
from rolecall.runner import Ending, Recap, RunResult, TaskFailure
from rolecall.status import FAILED, Verdict

UNABLE = "Unable to run reconciliation"

# A module's error with a good part of its output; the rest is in the artifacts.
MAX_MESSAGE = 1024
# Room for a right that is missing, with the rule that grants it.
MAX_DETAIL = 500
MAX_NAME = 300
# One task failing on many hosts says the same thing many times.
MAX_FAILURES = 5

_WHY_NOTHING_IS_KNOWN = {
    Ending.NO_RECAP: "ansible-playbook ended without a recap",
    Ending.TIMED_OUT: "The run took longer than its time limit and was stopped",
    Ending.NO_PROGRESS: "The run printed nothing for too long and was stopped",
    Ending.KILLED: "The run was killed",
    Ending.CANCELLED: "The run was stopped by the operator",
    Ending.NOT_STARTED: UNABLE,
}


def verdict_of(result: RunResult) -> Verdict:
    recap = result.recap
    ansible_result = ansible_result_of(recap) if recap is not None else None
    if result.succeeded:
        return Verdict(succeeded=True, ansible_result=ansible_result)
    return Verdict(
        succeeded=False,
        reason=reason_of(result.ending),
        message=message_of(result, f"run {result.run_id}"),
        ansible_result=ansible_result,
    )


def reason_of(ending: Ending) -> str:
    """The reason of the Failure condition: the old one where the Go operator wrote a Failure too."""
    return FAILED if ending in (Ending.FINISHED, Ending.NOT_STARTED) else ending.value


def message_of(result: RunResult, run: str = "") -> str:
    """Why a run failed, for the CR's user; the same text for the same failure but for `run`."""
    if result.ending is Ending.FINISHED:
        return _of_tasks(result.failures, run)
    text = bounded(result.reason_text, MAX_MESSAGE)
    if result.ending is Ending.NOT_STARTED:
        text = f"{UNABLE}: {text}" if text else UNABLE
    # The time only where the run is named, too: the same failure has the same text without both.
    since = [f"begun at {failure.since}" for failure in result.failures if run and failure.since]
    return _with_places(text or _WHY_NOTHING_IS_KNOWN[result.ending], since, run)


def failure_fields(result: RunResult, cause: str) -> dict[str, object]:
    """A failure as fields of its one line in the log: why it ran, where it failed, and how."""
    if result.succeeded or result.ending is Ending.CANCELLED:
        return {}
    fields: dict[str, object] = {"cause": cause}
    if result.failures:
        first = result.failures[0]
        at = {"task": bounded(first.task, MAX_DETAIL), "place": first.place}
        fields |= {name: value for name, value in at.items() if value}
    text = message_of(result)
    if result.ending is Ending.FINISHED:
        text = _with_places(_texts_of(result.failures), _places_of(result.failures)[1:], "")
    return fields | {"error": " ".join(text.split())}


def ansible_result_of(recap: Recap) -> dict[str, object]:
    return {
        "ok": recap.ok,
        "changed": recap.changed,
        "skipped": recap.skipped,
        "failures": recap.failures,
        "completion": recap.completion,
    }


def _of_tasks(failures: Sequence[TaskFailure], run: str) -> str:
    return _with_places(_texts_of(failures), _places_of(failures), run)


def _texts_of(failures: Sequence[TaskFailure]) -> str:
    shown = failures[:MAX_FAILURES]
    text = "\n".join(bounded(failure.message, MAX_MESSAGE) for failure in shown)
    details = [one_line(failure.detail, MAX_DETAIL) for failure in shown if failure.detail]
    return _joined(text + ":", "; ".join(details)) if details else text


def _places_of(failures: Sequence[TaskFailure]) -> list[str]:
    shown = failures[:MAX_FAILURES]
    places = [place for place in map(_place_of, shown) if place]
    if len(failures) > len(shown):
        places.append(f"and {len(failures) - len(shown)} more")
    return places


def _with_places(text: str, places: Sequence[str], run: str) -> str:
    additions = ", ".join(part for part in ("; ".join(places), run) if part)
    return _joined(text, f"({additions})") if additions else text


def _place_of(failure: TaskFailure) -> str:
    parts = [f"task `{bounded(failure.task, MAX_NAME)}`"] if failure.task else []
    if failure.place:
        parts.append(failure.place)
    if failure.host not in ("", "localhost"):
        parts.append(f"host `{failure.host}`")
    return ", ".join(parts)


def _joined(text: str, addition: str) -> str:
    return f"{text}\n{addition}" if "\n" in text else f"{text} {addition}"
