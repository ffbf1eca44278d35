"""Errors: each request of a run fails once, in the ways in which API servers and networks fail.

However the run takes it, what comes of it is what comes of an undisturbed one, and while it is not, the
status does not say that all is well. Whether the status lied is looked at in the moment in which the
engine is about to say `Successful`, and only for the object of the request that failed: roles may well
need several runs until everything is there.

A read that comes again fails with a 500 only: most roles look at the same objects in each run, and the
same client takes the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import TestedCr, shown_conditions
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.staging import (
    NAMESPACE_MARK,
    EndState,
    Fault,
    FaultKind,
    RequestMark,
    SeenRequest,
    differences,
)

_NAME = "errors"
_CONDITIONS = ".status.conditions"
_FOR_READS = (FaultKind.BROKEN, FaultKind.THROTTLED, FaultKind.REFUSED)
_FOR_READS_AGAIN = (FaultKind.BROKEN,)
_FOR_WRITES = (FaultKind.DONE_BUT_TIMED_OUT, *_FOR_READS, FaultKind.CONFLICT)
_REPORTED = {
    FaultKind.BROKEN: "500",
    FaultKind.THROTTLED: "429",
    FaultKind.CONFLICT: "409",
    FaultKind.REFUSED: "connection refused",
    FaultKind.DONE_BUT_TIMED_OUT: "done, but timed out",
}
# By what they find: a write that was done unseen is made twice; a 429 is repeated by most clients.
_WORTH = {
    FaultKind.DONE_BUT_TIMED_OUT: 3.0,
    FaultKind.BROKEN: 2.5,
    FaultKind.CONFLICT: 1.5,
    FaultKind.REFUSED: 1.2,
    FaultKind.THROTTLED: 0.8,
}


def _cases(subject: Subject) -> list[Case]:
    known = subject.undisturbed
    found = []
    for request in known.requests:
        if not request.info.is_resource or request.info.verb == "watch":
            continue
        mark = request.mark
        for kind in _kinds_for(request):
            params = {"method": mark.method, "path": mark.path, "occurrence": mark.occurrence}
            found.append(
                Case(
                    check=_NAME,
                    subject=str(subject.sample),
                    reported=f"{_REPORTED[kind]} to {mark}",
                    params={**params, "fault": str(kind)},
                    worth=_WORTH[kind] * (1.0 if request.is_write else 0.6),
                    is_alone=not request.info.namespace or not known.is_confined,
                )
            )
    return found


def _kinds_for(request: SeenRequest) -> Sequence[FaultKind]:
    if request.is_write:
        return _FOR_WRITES
    return _FOR_READS if request.mark.occurrence == 1 else _FOR_READS_AGAIN


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    params = case.params
    mark = RequestMark(params["method"], params["path"], params["occurrence"])
    fault = Fault(mark, FaultKind(params["fault"]))
    async with bench.alone(subject) if case.is_alone else bench.tested(subject) as tested:
        tested.traffic.fault = fault
        at_success: list[EndState] = []
        tested.traffic.on_success = _noting(tested, subject, at_success)
        await tested.create()
        settled = await tested.settle(subject.undisturbed.expected)
        if tested.traffic.fault is not None:
            bench.reported.note(f"{case.name}: the request did not come in this run")
            return []
        asked = tested.traffic.requests[tested.traffic.fault_came_at or 0]
        requests = around(tested.traffic.requests, tested.traffic.fault_came_at)
        place = subject.undisturbed.place_of(mark)
        if not settled.is_as_expected:
            return [
                CaseProblem(
                    reported=f"{case.reported} leaves something else behind than an undisturbed run",
                    expected="the same end state as that of an undisturbed run",
                    found=f"{shown_differences(settled.differences) or 'it never settles'}\n"
                    f"status: {shown_conditions(await tested.cr())}",
                    remedy="Let the error fail the run (no `ignore_errors` or empty `rescue`), so"
                    " that it is tried again, and write so that a second try finds what the first"
                    " one made.",
                    requests=requests,
                    place=place,
                    alike=f"{asked.resource_name} {shown_differences(settled.differences)}",
                    differences=tuple(map(str, settled.differences)),
                )
            ]
        lie = _lie(subject, asked, at_success, tested.namespace)
        if not lie:
            return []
        return [
            CaseProblem(
                reported=f"status said `Successful` while {asked.resource_name} was not as wanted",
                expected="a run whose write failed does not end as a success, or made the write again",
                found=lie,
                remedy="Do not ignore the error of this task: no `ignore_errors`, no `failed_when:"
                " false`, and a `rescue` that ends with `rolecall.operator.report_failure`.",
                requests=requests,
                place=place,
                alike=f"lie {asked.resource_name}",
            )
        ]


def _noting(tested: TestedCr, subject: Subject, at_success: list[EndState]):  # type: ignore[no-untyped-def]
    async def note() -> None:
        if tested.traffic.fault_came_at is not None and not at_success:
            at_success.append(await tested.state(subject.undisturbed.leeway))

    return note


def _lie(
    subject: Subject, asked: SeenRequest, at_success: Sequence[EndState], namespace: str
) -> str:
    """What of the object of a failed write was not right when success was reported."""
    if not asked.is_write or not at_success or asked.info.subresource:
        return ""
    known = subject.undisturbed
    ids = ids_of(known, asked, namespace)
    wanted = EndState({key: it for key, it in known.at_first_success.objects.items() if key in ids})
    found = EndState({key: it for key, it in at_success[0].objects.items() if key in ids})
    reported = differences(wanted, found, known.leeway)
    # The engine's words about the run are what is judged, and not yet written.
    return shown_differences([each for each in reported if not each.path.startswith(_CONDITIONS)])


def ids_of(known: Undisturbed, asked: SeenRequest, namespace: str) -> set[str]:
    """The objects that a write may be about: one by its name, or all that its kind has."""
    info = asked.info
    # An object without a namespace may have it in its name: end states name it by a mark.
    name = info.name.replace(namespace, NAMESPACE_MARK) if namespace else info.name
    found = set()
    for key in known.at_first_success.objects:
        group_kind, _, of_object = key.partition("/")
        is_kind = known.plurals.get(group_kind) == info.resource
        is_group = group_kind.partition(".")[2] == info.group
        if is_kind and is_group and (not name or of_object == name):
            found.add(key)
    return found


ERRORS = OperatorCheck(_NAME, "each request of a run fails once, in each way", _cases, _run)
