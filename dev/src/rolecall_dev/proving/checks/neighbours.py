"""Neighbours: a second CR takes nothing from the first one, and long names work or fail in words.

What is held against each other is the first CR's objects before the second one came and after it. A
role that gives all CRs one object shows there: owner or content change, or it is written once more.
Across namespaces the first CR is deleted as well: an object without a namespace that both have used
goes with it, and is missing to the second. Where the second CR says in its status that it cannot, its
author knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import UnprocessableError
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import TestedCr, failure_message, says_failed, shown_conditions
from rolecall_dev.staging import EndState, Leeway, SeenRequest, differences, end_state_of, object_id

_NAME = "neighbours"
_GONE_WITHIN_S = 20.0
# Of a label's value and a DNS label, and of an object's name.
_LENGTHS = (63, 253)
_SUFFIX = "-b"


def _cases(subject: Subject) -> list[Case]:
    name, is_alone = str(subject.sample), not subject.undisturbed.is_confined
    found = [
        Case(_NAME, name, "a second CR beside it", {"does": "beside"}, 4.5, is_alone),
        *(
            Case(
                check=_NAME,
                subject=name,
                reported=f"a name of {length} letters",
                params={"does": "long", "letters": length},
                worth=2.6,
                is_alone=is_alone,
            )
            for length in _LENGTHS
        ),
    ]
    if subject.undisturbed.cr["metadata"].get("namespace"):
        reported = "the same name in another namespace"
        found.append(Case(_NAME, name, reported, {"does": "elsewhere"}, 4.0, is_alone))
    return found


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    match case.params["does"]:
        case "beside":
            return await _beside(bench, subject, case)
        case "elsewhere":
            return await _elsewhere(bench, subject, case)
        case _:
            return await _long(bench, subject, case, case.params["letters"])


async def _beside(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    async with bench.tested(subject) as first:
        await first.create()
        await first.settle(subject.undisturbed.expected)
        return await _joined(subject, case, first, first.called(f"{subject.sample.name}{_SUFFIX}"))


async def _joined(
    subject: Subject, case: Case, first: TestedCr, second: TestedCr
) -> list[CaseProblem]:
    """Create the second beside a first one that has settled, and look at what the first one had."""
    leeway = subject.undisturbed.leeway
    objects = await first.objects()
    before = _by_uid(subject, first, objects)
    begins = len(second.traffic.requests)
    try:
        await second.create()
    except UnprocessableError:
        return []  # the API server says no
    await second.settle()
    await first.settle()
    cr, other = await first.cr(), await second.cr()
    if says_failed(other) and failure_message(other) and not says_failed(cr):
        return []
    after = _by_uid(subject, first, await first.objects())
    taken = [
        each
        for uid, state in before.items()
        for each in differences(state, after.get(uid, EndState()), leeway)
    ]
    # Who writes last has it as before: then it is the second one that lacks what it wrote.
    wrote = [
        each
        for each in second.traffic.effects
        if each.number >= begins and any(_is_about(subject, each, obj) for obj in objects)
    ]
    is_worse = says_failed(cr) and not subject.undisturbed.fails
    if not taken and not wrote and not is_worse:
        return []
    found = (
        shown_differences(taken)
        or failure_message(cr)
        or "\n".join(f"{each.resource_name} was written for both" for each in wrote[:1])
        or shown_conditions(cr)
    )
    return [_shared(subject, second, f"{case.reported} takes from the first one", found, wrote)]


async def _elsewhere(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    async with AsyncExitStack() as stack:
        # Both namespaces before any CR: what has no namespace is then new to both.
        first, second = [await stack.enter_async_context(bench.tested(subject)) for _ in range(2)]
        await first.create()
        await first.settle(subject.undisturbed.expected)
        problems = await _joined(subject, case, first, second)
        if problems or says_failed(await second.cr()):
            return problems
        await first.delete()
        await _until_gone(bench, first)
        settled = await second.settle(subject.undisturbed.expected)
        if settled.is_as_expected:
            return []
        found = shown_differences(settled.differences) or "it never settles"
        return [
            _shared(subject, second, f"{case.reported} lacks what went with the first one", found)
        ]


def _shared(
    subject: Subject,
    second: TestedCr,
    reported: str,
    found: str,
    wrote: Sequence[SeenRequest] = (),
) -> CaseProblem:
    """Two CRs want one object. Beside, elsewhere or with long names: one cause, reported once."""
    return CaseProblem(
        reported=f"{reported}, and no status says so",
        expected="each has objects of its own, or the second one says that it cannot",
        found=found,
        remedy="Put the CR's name into the names of its objects, and its namespace too where they"
        " have none or live in another one.",
        requests=around(second.traffic.requests, None),
        place=subject.undisturbed.place_of(wrote[0]) if wrote else "",
        alike=f"{_NAME} shared",
    )


async def _until_gone(bench: Bench, tested: TestedCr) -> None:
    began = bench.clock.monotonic()
    while not await tested.is_gone() and bench.clock.monotonic() - began < _GONE_WITHIN_S:
        await bench.clock.sleep(0.1)


async def _long(bench: Bench, subject: Subject, case: Case, letters: int) -> list[CaseProblem]:
    """Two of them that differ in the last letter: who shortens names makes one of both."""
    known = subject.undisturbed
    async with bench.tested(subject) as tested:
        first, second = (
            tested.called(long_name(subject.sample.name, letters, last)) for last in "ab"
        )
        try:
            await first.create()
        except UnprocessableError:
            return []  # the API server says no
        settled = await first.settle()
        cr = await first.cr()
        if says_failed(cr) and not known.fails:
            if failure_message(cr):
                bench.reported.note(f"{case.name}: it fails, and the status says so")
                return []
            found = "the status says that it failed, and not why"
        else:
            found = _fewer(known.end, settled.state, known.leeway)
            if not settled.is_at_rest:
                found = found or "it never settles"
        if not found:
            return await _joined(subject, case, first, second)
        return [
            CaseProblem(
                reported=f"with {case.reported} it does something else, and says nothing",
                expected="the same objects as with a short name, or a message that says what is wrong",
                found=found,
                remedy="Limit `metadata.name` in the CRD by a rule (`self.metadata.name.size() <="
                " 40`), or shorten names with a hash of the whole name.",
                requests=around(tested.traffic.requests, None),
                alike=f"{_NAME} long",
            )
        ]


def long_name(name: str, letters: int, last: str) -> str:
    """It begins with the sample's, and is cut or filled up."""
    return f"{f'{name}-'.ljust(letters, 'x')[: letters - 1]}{last}"


def _fewer(expected: EndState, found: EndState, leeway: Leeway) -> str:
    """Kinds of which there is another number than there should be."""
    learned = {key for key, path in leeway.paths if not path}
    wanted, there = (
        Counter(key.partition("/")[0] for key in state.objects if key not in learned)
        for state in (expected, found)
    )
    return "\n".join(
        f"{kind}: {there[kind]} instead of {wanted[kind]}"
        for kind in sorted(wanted | there)
        if wanted[kind] != there[kind]
    )


def _is_about(subject: Subject, write: SeenRequest, obj: Json) -> bool:
    """Whether a write was about this object beside the CR."""
    gvk = Gvk.parse(obj["apiVersion"], obj["kind"])
    info, metadata = write.info, obj["metadata"]
    return (
        gvk != subject.sample.gvk
        and (info.group, info.resource)
        == (gvk.group, subject.undisturbed.plurals.get(gvk.group_kind))
        and (info.namespace, info.name) == (metadata.get("namespace", ""), metadata["name"])
    )


def _by_uid(subject: Subject, tested: TestedCr, objects: Sequence[Json]) -> dict[str, EndState]:
    """Each object beside the CR, by itself: a name may be used again, and many names are random."""
    crs = [obj for obj in objects if obj["kind"] == subject.sample.gvk.kind]
    leeway = subject.undisturbed.leeway
    cr_ids = [object_id(obj, leeway) for obj in crs]
    return {
        str(obj["metadata"]["uid"]): end_state_of([*crs, obj], tested.place, leeway).without(
            *cr_ids
        )
        for obj in objects
        if obj not in crs
    }


NEIGHBOURS = OperatorCheck(
    _NAME, "a second CR beside it or elsewhere, and long names: nothing is taken", _cases, _run
)
