"""At rest: where nothing changed, nothing is written: by a second run, a restart, or a new list.

Counted is what changed something: modules of kubernetes.core send a patch on every run, and one that
changes nothing causes no event. Their number is shown and is not a finding.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import Case, CaseProblem, OperatorCheck, Subject, around
from rolecall_dev.proving.tested_cr import TestedCr
from rolecall_dev.staging import SeenRequest

_NAME = "at_rest"
_RUNS = 2
_EXPECTED = "nothing is written, since nothing changed"
_WAYS = {
    "run": ("run again", 10.0),
    "restart": ("operator restarted", 6.0),
    "watches": ("watches broken off, so all is listed again", 4.0),
}


def _cases(subject: Subject) -> list[Case]:
    return [
        Case(_NAME, str(subject.sample), reported, {"way": way}, worth, is_alone=way != "run")
        for way, (reported, worth) in _WAYS.items()
    ]


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    if not subject.undisturbed.settles:
        return [_never_settles(subject)]
    async with bench.alone(subject) if case.is_alone else bench.tested(subject) as tested:
        await tested.create()
        await tested.settle(subject.undisturbed.expected)
        # The last change of a dependent may still bring a run.
        await tested.settle()
        before = len(tested.traffic.requests)
        await _disturb(bench, tested, case.params["way"])
        await tested.settle(patience_s=2.0)
        return _problems(bench, subject, tested.traffic.requests, before)


async def _disturb(bench: Bench, tested: TestedCr, way: str) -> None:
    if way == "run":
        for _ in range(_RUNS):
            await tested.ask_for_run()
    elif way == "restart":
        await bench.engine.stop()
        await bench.engine.start()
    else:
        bench.proxy.cut_watches()


def _problems(
    bench: Bench, subject: Subject, requests: Sequence[SeenRequest], before: int
) -> list[CaseProblem]:
    writes = [each for each in requests[before:] if each.is_play and each.is_write]
    silent = {each.resource_name for each in writes if each.has_effect is False and each.code < 300}
    if silent:
        bench.reported.note(
            f"{subject.sample}: a run without need sends writes that change nothing:"
            f" {', '.join(sorted(silent))}"
        )
    problems: dict[str, CaseProblem] = {}
    for each in writes:
        if each.has_effect:
            what = "\n".join(each.changed) or str(each)
            problems.setdefault(
                each.resource_name,
                CaseProblem(
                    reported=f"{each.info.verb} of {each.resource_name} though nothing had changed",
                    expected=_EXPECTED,
                    found=what,
                    remedy="Write only what follows from the spec: no time, no random value, no"
                    " list that grows; or make the task depend on a difference.",
                    requests=around(requests, each.number),
                    place=subject.undisturbed.place_of(each),
                    alike=f"{_NAME} {each.resource_name}",
                ),
            )
    return list(problems.values())


def _never_settles(subject: Subject) -> CaseProblem:
    last = subject.undisturbed.effects[-1:]
    return CaseProblem(
        reported="the runs never end: each changes something that brings the next one",
        expected="after some runs, nothing is written any more",
        found="\n".join("\n".join(each.changed) for each in last),
        remedy="Keep values that differ in each run, such as times, out of objects and status.",
        requests=around(subject.undisturbed.requests, None),
        place=subject.undisturbed.place_of(last[0]) if last else "",
        alike=f"{_NAME} never",
    )


AT_REST = OperatorCheck(
    _NAME, "a second run, a restart, new watches: nothing is written", _cases, _run
)
