"""Rights: each right that the sample's requests used is taken away, and what is missing is then named.

The proxy refuses the requests, in RBAC's words, in the namespace of one case: so cases run side by
side, and no operator need be started again with other roles. Rejected: real roles and bindings for each
case, which take a start of the operator each, and show the same answer to the same request. What
config/rbac gives is compared with the requests instead. Lists and watches that the operator keeps for
all CRs belong to no case, and are not taken away.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable, Iterable

from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.proxy import RequestInfo
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Reported,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import (
    TestedCr,
    conditions_of,
    failure_message,
    says_failed,
    shown_conditions,
)
from rolecall_dev.rbac import Right, is_granted
from rolecall_dev.staging import SeenRequest

_NAME = "rights"
_NAMED_WITHIN_S = 30.0
_LOOK_S = 0.2
_MOST_SHOWN = 8
_OF_ALL_CRS = frozenset({"list", "watch"})


def _cases(subject: Subject) -> list[Case]:
    name, is_confined = str(subject.sample), subject.undisturbed.is_confined
    used = _used(subject)
    found = [
        Case(
            check=_NAME,
            subject=name,
            reported=f"without the right to {right}",
            params={"group": right.group, "resource": right.resource, "verb": right.verb},
            worth=2.4,
            is_alone=not is_confined or any(not each.info.namespace for each in requests),
        )
        for right, requests in used.items()
    ]
    if subject.granted:
        found.append(Case(_NAME, name, "config/rbac allows each request", {}, worth=9.0))
    return found


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    if not case.params:
        return _not_granted(subject)
    right = Right(case.params["group"], case.params["resource"], case.params["verb"])
    async with bench.alone(subject) if case.is_alone else bench.tested(subject) as tested:
        tested.traffic.takes_right = refusing(right, subject.granted)
        _, position = await asyncio.to_thread(bench.engine.words_since, 0)
        await tested.create()
        watch = _Watch(bench, tested, right, position)
        await watch.until_reported()
        if watch.is_in_status:
            return []
        settled = await tested.settle(subject.undisturbed.expected)
        refused = [it for it in tested.traffic.refused if right_of(it.info) == right]
        if settled.is_as_expected or not refused:
            reported = "not needed, though asked for" if refused else "not asked for this time"
            bench.reported.note(f"{subject.sample}: {reported}: the right to {right}")
            return []
        await watch.look()
        # Who may not write the status can tell it nowhere but in the log.
        is_silent = not any(each.is_play for each in refused)
        if watch.is_in_status or (
            watch.is_in_log and (is_silent or says_failed(await tested.cr()))
        ):
            return []
        what = "the run does not fail" if watch.is_in_log else "neither status nor log names it"
        return [
            CaseProblem(
                reported=f"{case.reported} something is missing, and {what}",
                expected=f"the run fails, and status or log say that the right to {right} is missing",
                found=f"{shown_differences(settled.differences) or 'it never settles'}\n"
                f"status: {await _status_shown(tested)}",
                remedy="Let a refused request fail the run: no `ignore_errors`, and no condition"
                " that takes an error for an absent object.",
                requests=around(tested.traffic.requests, refused[0].number),
                place=subject.undisturbed.place_of(refused[0].mark),
                alike=f"{_NAME} {right}",
                differences=tuple(map(str, settled.differences)),
            )
        ]


class _Watch:
    """Whether status or log have named the right so far."""

    def __init__(self, bench: Bench, tested: TestedCr, right: Right, position: int) -> None:
        self._bench, self._tested, self._right = bench, tested, right
        self._position = position  # in the log
        self.is_in_log = self.is_in_status = False

    async def until_reported(self) -> None:
        """Look until it is reported, or until all is done without it."""
        clock = self._bench.clock
        began = clock.monotonic()
        while clock.monotonic() - began < _NAMED_WITHIN_S:
            await self.look()
            state = await self._tested.engine_state()
            is_over = state is not None and state.last_run and state.is_at_rest(clock.now())
            if self.is_in_status or self.is_in_log or is_over:
                return
            await clock.sleep(_LOOK_S)

    async def look(self) -> None:
        refused = {right_of(each.info) for each in self._tested.traffic.refused}
        if self._right not in refused:
            return
        said, self._position = await asyncio.to_thread(
            self._bench.engine.words_since, self._position
        )
        lines = "\n".join(line for line in said.splitlines() if self._tested.namespace in line)
        # A role that tries another way reports that one: `update`, where `patch` was refused.
        message = await _message(self._tested)
        self.is_in_log = self.is_in_log or any(names_right(lines, each) for each in refused)
        self.is_in_status = any(names_right(message, each) for each in refused)


def refusing(right: Right, granted: frozenset[Right]) -> Callable[[RequestInfo], bool]:
    """What the project's account may not do without this right; where it has no roles, only that."""

    @functools.cache
    def is_refused(needed: Right) -> bool:
        return needed == right or (bool(granted) and not is_granted(granted, needed))

    return lambda info: info.is_resource and is_refused(right_of(info))


def right_of(info: RequestInfo) -> Right:
    """The right that a request needs."""
    sub = f"/{info.subresource}" if info.subresource else ""
    return Right(info.group, f"{info.resource}{sub}", info.verb)


def names_right(text: str, right: Right) -> bool:
    """Whether one line names it: its verb and its resource as words."""
    resource, _, sub = right.resource.partition("/")
    words = [right.verb, resource, *([sub] if sub else [])]
    wanted = [re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])") for word in words]
    return any(all(each.search(line) for each in wanted) for line in text.splitlines())


async def _message(tested: TestedCr) -> str:
    try:
        return said_by(await tested.cr())
    except NotFoundError:
        return ""


def said_by(cr: Json) -> str:
    """All that its conditions say: who tries again for a while says why before it has failed."""
    return "\n".join(str(row.get("message") or "") for row in conditions_of(cr).values())


async def _status_shown(tested: TestedCr) -> str:
    cr = await tested.cr()
    return f"{shown_conditions(cr) or 'empty'}; {failure_message(cr) or 'no message'}"


def _used(subject: Subject) -> dict[Right, list[SeenRequest]]:
    """By plays anywhere, and by the engine in the CR's namespace."""
    known = subject.undisturbed
    found: dict[Right, list[SeenRequest]] = {}
    for each in (*known.requests, *known.by_engine):
        if each.info.is_resource and each.info.verb != "watch":
            found.setdefault(right_of(each.info), []).append(each)
    return dict(sorted(found.items()))


def _not_granted(subject: Subject) -> list[CaseProblem]:
    return [
        CaseProblem(
            reported=f"config/rbac gives no right to {right}, which is asked for",
            expected="each request of the undisturbed run is allowed",
            found=f"{requests[0]}",
            remedy="Run `rolecall rbac`; for a kind that is known only at run time, `rolecall rbac"
            " --record`.",
            requests=tuple(map(str, requests[:3])),
            place=subject.undisturbed.place_of(requests[0].mark),
            alike=f"{_NAME} not granted {right}",
        )
        for right, requests in _used(subject).items()
        if not is_granted(subject.granted, right)
    ]


def note_unused(reported: Reported, subjects: Iterable[Subject]) -> None:
    """Tell which rights of config/rbac no sample used; lists and watches belong to no sample."""
    subjects = list(subjects)
    used = {right for subject in subjects for right in _used(subject)}
    unused = sorted(
        {
            grant
            for subject in subjects
            for grant in subject.granted
            if grant.verb not in _OF_ALL_CRS and not any(is_granted([grant], it) for it in used)
        }
    )
    if unused:
        more = f" and {len(unused) - _MOST_SHOWN} more" if len(unused) > _MOST_SHOWN else ""
        reported.note(
            f"{len(unused)} rights of config/rbac were used by no sample, so of them nothing is known:"
            f" {', '.join(map(str, unused[:_MOST_SHOWN]))}{more}"
        )


RIGHTS = OperatorCheck(
    _NAME, "each right that was used is taken away: what is missing is named", _cases, _run
)
