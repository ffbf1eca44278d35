"""Drift: what the role made is deleted, edited, or stripped of its owner by hand, and comes back.

First all fields that the role set on an object are edited at once: that takes one run, and shows
whether the object is looked at, at all. Then each of them alone, one after the other on one CR: a role
that looks at one field and then repairs all passes the first. Fields that the API server lets no client
change are left out, and so are those that name the object. What a role did not set is left alone:
other controllers write it. The owner is the exception, though the role seldom names it: the engine
writes it for the role, and an object without stays when its CR goes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import Client
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import TestedCr
from rolecall_dev.staging import SeenRequest, StateDifference, object_id

_NAME = "drift"
_AT_REPAIR = "it becomes as the role wants it, without a further word"
# A period that is no longer than this is a way of repairing things that an author may count on.
_SHORT_PERIOD_S = 60.0
# So many a case, one after the other: with more, a budget would be short of time for others.
_LEAVES_OF_A_CASE = 8
# Each takes the time until it is sure that nothing repairs it, and all have one cause, most likely.
_MOST_UNREPAIRED = 3


def _cases(subject: Subject) -> list[Case]:
    found = []
    for obj in _made_objects(subject):
        key = object_id(obj, subject.undisturbed.leeway)
        found.append(_case(subject, f"{key} deleted", 4.0, {"id": key, "does": "delete"}))
        leaves = [steps for steps, _ in set_leaves(subject, obj)]
        if leaves:
            found.append(_case(subject, f"{key} edited", 4.0, {"id": key, "does": "edit"}))
        if _is_owned_alone(subject, obj):
            reported = f"{key} stripped of its owner"
            found.append(_case(subject, reported, 3.9, {"id": key, "does": "strip"}))
        if len(leaves) > 1:
            for begin in range(0, len(leaves), _LEAVES_OF_A_CASE):
                some = leaves[begin : begin + _LEAVES_OF_A_CASE]
                found.append(_case_of_leaves(subject, key, some, 2.4 - begin / 100))
    return found


def _case(subject: Subject, reported: str, worth: float, params: Json) -> Case:
    is_alone = not subject.undisturbed.is_confined
    return Case(_NAME, str(subject.sample), reported, params, worth, is_alone)


def _case_of_leaves(
    subject: Subject, key: str, leaves: Sequence[LeafPath], worth: float = 1.0
) -> Case:
    some = shown_leaf(leaves[0])
    if len(leaves) > 1:
        some += f" to {shown_leaf(leaves[-1])}, {len(leaves)} fields one by one"
    params = {"id": key, "does": "edit_each", "leaves": [list(steps) for steps in leaves]}
    return _case(subject, f"{key} edited at {some}", worth, params)


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    try:
        return await _tried(bench, subject, case, frozenset())
    except _NoWayBackError as found:
        return await _tried(bench, subject, case, found.leaves)


async def _tried(
    bench: Bench, subject: Subject, case: Case, left_out: frozenset[LeafPath]
) -> list[CaseProblem]:
    async with bench.tested(subject) as tested:
        trial = _Trial(bench, subject, case, tested)
        await tested.create()
        await tested.settle(subject.undisturbed.expected)
        obj = await trial.found()
        if obj is None:
            bench.reported.note(f"{case.name}: the object was not there")
            return []
        match case.params["does"]:
            case "delete":
                return await trial.deleted(obj)
            case "strip":
                return await trial.stripped(obj)
            case "edit":
                return await trial.edited(obj, left_out)
            case _:
                leaves = [tuple(steps) for steps in case.params["leaves"]]
                return await trial.edited_each([each for each in leaves if each not in left_out])


class _NoWayBackError(Exception):
    """The API server would not let anybody take these edits back: a volume never shrinks."""

    def __init__(self, leaves: frozenset[LeafPath]) -> None:
        super().__init__()
        self.leaves = leaves


@dataclass(frozen=True, slots=True)
class _Unrepaired:
    by_a_run: bool  # a further run repairs it, and nothing brings that run
    left: tuple[StateDifference, ...]
    leaf: LeafPath = ()

    @property
    def when(self) -> str:
        run = "only by the next run, which nothing brings"
        return run if self.by_a_run else "not even by a further run"


class _Trial:
    """One object of one CR."""

    def __init__(self, bench: Bench, subject: Subject, case: Case, tested: TestedCr) -> None:
        self._bench, self._subject, self._case, self._tested = bench, subject, case, tested
        self._id = str(case.params["id"])

    async def found(self) -> Json | None:
        """The object as it is now."""
        leeway = self._subject.undisturbed.leeway
        objects = await self._tested.objects()
        return next((it for it in objects if object_id(it, leeway) == self._id), None)

    async def deleted(self, obj: Json) -> list[CaseProblem]:
        metadata, gvk = obj["metadata"], Gvk.parse(obj["apiVersion"], obj["kind"])
        place = (metadata.get("namespace", ""), metadata["name"])
        await self._tested.client.delete(gvk, *place)
        settled = await self._tested.settle(self._subject.undisturbed.expected)
        if settled.is_as_expected:
            return []
        if await _is_held(self._tested, obj):
            held_by = ", ".join(metadata.get("finalizers", []))
            self._bench.reported.cannot_prove(
                f"{self._case.name}: it is held by {held_by}, and so it neither goes nor comes back"
            )
            return []
        unrepaired = await self._asked_for_run(settled.differences)
        return [self._problem(self._case.reported, unrepaired)] if unrepaired else []

    async def stripped(self, obj: Json) -> list[CaseProblem]:
        """Of its owner, and of nothing else."""
        metadata, gvk = obj["metadata"], Gvk.parse(obj["apiVersion"], obj["kind"])
        place = (metadata.get("namespace", ""), metadata["name"])
        no_owner = {"metadata": {"ownerReferences": None}}
        await self._tested.client.merge_patch(gvk, *place, no_owner)
        unrepaired = await self._unrepaired()
        return [self._problem(self._case.reported, unrepaired)] if unrepaired else []

    async def edited(self, obj: Json, left_out: frozenset[LeafPath]) -> list[CaseProblem]:
        """All at once."""
        leaves = dict(set_leaves(self._subject, obj))
        kept = {key: value for key, value in leaves.items() if key not in left_out}
        path = await self._path(obj)
        client = self._tested.client
        edited, fixed = await _edited(client, path, obj, kept)
        if fixed or left_out:
            names = ", ".join(map(shown_leaf, [*fixed, *left_out]))
            self._bench.reported.note(
                f"{self._case.name}: the API server rejects a change, or the change back, of: {names}"
            )
        if edited is None or not await _put(client, path, edited):
            return []
        await self._require_way_back(path, edited, kept)
        unrepaired = await self._unrepaired()
        return [self._problem(self._case.reported, unrepaired)] if unrepaired else []

    async def edited_each(self, leaves: Collection[LeafPath]) -> list[CaseProblem]:
        """One after the other; what is not repaired is put back by us before the next one."""
        found: list[_Unrepaired] = []
        for steps in leaves:
            obj = await self.found()
            value = leaf_value(obj, steps)
            if obj is None or value is None:
                continue
            path = await self._path(obj)
            client = self._tested.client
            edited, _ = await _edited(client, path, obj, {steps: value})
            if edited is None or not await _put(client, path, edited):
                continue
            await self._require_way_back(path, edited, {steps: value})
            unrepaired = await self._unrepaired(steps)
            if unrepaired is None:
                continue
            found.append(unrepaired)
            if len(found) == _MOST_UNREPAIRED or not await self._is_put_back(steps, value):
                break
        return [self._problem_of_leaves(found)] if found else []

    async def _unrepaired(self, leaf: LeafPath = ()) -> _Unrepaired | None:
        settled = await self._tested.settle(self._subject.undisturbed.expected)
        if settled.is_as_expected:
            return None
        return await self._asked_for_run(settled.differences, leaf)

    async def _asked_for_run(
        self, left: tuple[StateDifference, ...], leaf: LeafPath = ()
    ) -> _Unrepaired | None:
        """What a run changes about it; None where a short period brings that run."""
        await self._tested.ask_for_run()
        later = await self._tested.settle(self._subject.undisturbed.expected)
        period_s = self._subject.sample.watch.reconcile_period_s
        if later.is_as_expected and 0 < period_s <= _SHORT_PERIOD_S:
            self._bench.reported.note(
                f"{self._case.name}: repaired only at the next period, {period_s:g} s at most"
            )
            return None
        if later.is_as_expected:
            return _Unrepaired(by_a_run=True, left=left, leaf=leaf)
        return _Unrepaired(by_a_run=False, left=later.differences, leaf=leaf)

    async def _is_put_back(self, steps: LeafPath, value: Any) -> bool:
        obj = await self.found()
        if obj is not None and leaf_value(obj, steps) != value:
            mended = copy.deepcopy(obj)
            set_leaf(mended, steps, value)
            await _put(self._tested.client, await self._path(obj), mended)
        return (await self._tested.settle(self._subject.undisturbed.expected)).is_as_expected

    async def _require_way_back(self, path: str, edited: Json, leaves: dict[LeafPath, Any]) -> None:
        if lasting := await _lasting(self._tested.client, path, edited, leaves):
            raise _NoWayBackError(lasting)

    async def _path(self, obj: Json) -> str:
        gvk = Gvk.parse(obj["apiVersion"], obj["kind"])
        resource = await self._tested.client.resource_for(gvk)
        return resource.path(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])

    def _way_out(self) -> str:
        """Where watches.yaml says that the engine ignores such an object."""
        watch = self._subject.sample.watch
        kind = self._id.partition("/")[0]
        if not watch.watch_dependent_resources:
            return "; watches.yaml sets `watchDependentResources: false`, so it is not watched"
        wide = {gvk.group_kind for gvk in self._subject.undisturbed.wide_kinds}
        if kind in wide and not watch.watch_cluster_scoped_resources:
            return "; `watchClusterScopedResources: true` in watches.yaml has it watched"
        return ""

    def _remedy(self, *, by_a_run: bool) -> str:
        if not by_a_run:
            return "Let each run apply the whole object, every field that the role cares for."
        if way_out := self._way_out():
            return f"Have it watched: {way_out.removeprefix('; ')}."
        return (
            "Create the object in the CR's namespace, so that the CR owns it and a change of it"
            " starts a run, or set `reconcilePeriod` in watches.yaml."
        )

    def _problem_of_leaves(self, found: Sequence[_Unrepaired]) -> CaseProblem:
        names = ", ".join(shown_leaf(each.leaf) for each in found)
        reported = f"{self._id} edited at {names}" + (", each alone" if len(found) > 1 else "")
        case = _case_of_leaves(self._subject, self._id, [found[0].leaf])
        return self._problem(reported, *found, case=case)

    def _problem(self, reported: str, *found: _Unrepaired, case: Case | None = None) -> CaseProblem:
        known = self._subject.undisturbed
        differences: list[StateDifference] = []
        for each in (it for one in found for it in one.left):
            if each not in differences:
                differences.append(each)
        wrote = [
            write
            for obj in known.objects
            if object_id(obj, known.leeway) == self._id
            for write in writes_to(self._subject, obj)
        ]
        return CaseProblem(
            reported=f"{reported}, and it is repaired {found[0].when}",
            expected=f"{_AT_REPAIR}{self._way_out() if found[0].by_a_run else ''}",
            found=shown_differences(differences) or "it never settles",
            remedy=self._remedy(by_a_run=found[0].by_a_run),
            requests=around(self._tested.traffic.requests, None),
            place=known.place_of(wrote[-1]) if wrote else "",
            case=case,
            # A role that ignores an object misses each way to change it: one cause, reported once.
            alike=f"{_NAME} {self._id} {found[0].when}",
        )


async def _lasting(
    client: Client, path: str, edited: Json, leaves: dict[LeafPath, Any]
) -> frozenset[LeafPath]:
    """The edits that cannot be taken back."""
    found = set()
    for steps, value in leaves.items():
        trial = copy.deepcopy(edited)
        if set_leaf(trial, steps, value) and not await _put(client, path, trial, is_trial=True):
            found.add(steps)
    return frozenset(found)


async def _edited(
    client: Client, path: str, obj: Json, leaves: dict[LeafPath, Any]
) -> tuple[Json | None, list[LeafPath]]:
    """The object with every leaf changed that may be, and the leaves that may not."""
    edited: Json | None = None
    fixed = []
    for steps, value in leaves.items():
        for other in other_values(value):
            trial = copy.deepcopy(edited or obj)
            if set_leaf(trial, steps, other) and await _put(client, path, trial, is_trial=True):
                edited = trial
                break
        else:
            fixed.append(steps)
    return edited, fixed


async def _put(client: Client, path: str, obj: Json, *, is_trial: bool = False) -> bool:
    target = f"{path}?dryRun=All" if is_trial else path
    body = copy.deepcopy(obj)
    body["metadata"].pop("resourceVersion", None)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    async with client.request_raw(
        "PUT", target, headers=headers, body=json.dumps(body).encode()
    ) as answer:
        await answer.read()
        return answer.status < 300


def _made_objects(subject: Subject) -> list[Json]:
    """What plays wrote, as far as it is there at the end."""
    return [
        obj
        for obj in subject.undisturbed.objects
        if obj["kind"] != subject.sample.gvk.kind and writes_to(subject, obj)
    ]


def _is_owned_alone(subject: Subject, obj: Json) -> bool:
    """Whether only the CR owns it: an object that others own as well is theirs, too."""
    owners = obj["metadata"].get("ownerReferences") or []
    return [each["uid"] for each in owners] == [subject.undisturbed.cr["metadata"]["uid"]]


async def _is_held(tested: TestedCr, obj: Json) -> bool:
    """Whether the very object waits for another finalizer."""
    uid = obj["metadata"]["uid"]
    return any(
        it["metadata"]["uid"] == uid and it["metadata"].get("deletionTimestamp")
        for it in await tested.objects()
    )


DRIFT = OperatorCheck(
    _NAME, "what the role made is deleted, edited and stripped of its owner by hand", _cases, _run
)


# The leaves of an object that a role set, and how one of them is given another value.
# What a role set is read from the bodies of its writes, and not from the object: what others wrote is
# not tested here. A path names an element of a list by its name where it has one, else by its
# place.

_NOT_ITS_OWN = frozenset({"apiVersion", "kind", "status"})
_NOT_IN_METADATA = frozenset(
    {
        *("name", "namespace", "ownerReferences", "generateName", "finalizers"),
        # Sent along by those who send what they have read.
        *("resourceVersion", "uid", "generation", "creationTimestamp", "managedFields", "selfLink"),
    }
)
_MOST_LEAVES = 60

LeafPath = tuple[str | int, ...]


def set_leaves(subject: Subject, obj: Json) -> list[tuple[LeafPath, Any]]:
    """Those that plays set, with their values as they are now; what an object is for comes first."""
    leaves: dict[LeafPath, None] = {}
    for write in writes_to(subject, obj):
        body = _body(write)
        for key, value in body.items():
            if key in _NOT_ITS_OWN:
                continue
            for steps in _leaf_steps(value, (key,)):
                is_name = steps[0] == "metadata" and len(steps) > 1 and steps[1] in _NOT_IN_METADATA
                # The owner's annotations are the engine's, and those of kubectl are notes of a client.
                is_owner = str(steps[-1]).startswith(("operator-sdk/", "kubectl.kubernetes.io/"))
                if not is_name and not is_owner and steps[-1] != "name":
                    leaves[steps] = None
    # Labels and annotations last: what an object does is in the rest.
    found = []
    for steps in sorted(leaves, key=lambda it: it[0] == "metadata")[:_MOST_LEAVES]:
        value = leaf_value(obj, steps)
        if isinstance(value, bool | int | float | str):
            found.append((steps, value))
    return found


def writes_to(subject: Subject, obj: Json) -> list[SeenRequest]:
    """Writes about one object: by the name in the path, or in the body of a create."""
    name, gvk = obj["metadata"]["name"], Gvk.parse(obj["apiVersion"], obj["kind"])
    found = []
    for each in subject.undisturbed.effects:
        body = _body(each)
        about = each.info.name or as_map(body.get("metadata")).get("name")
        generated = str(as_map(body.get("metadata")).get("generateName") or "\0")
        is_it = about == name or name.startswith(generated)
        kind = body.get("kind")
        if is_it and (kind is None or kind == gvk.kind or gvk.kind.partition(".")[0] == kind):
            found.append(each)
    return found


def other_values(value: Any) -> Iterator[Any]:
    """Values beside this one, of which the API server may take the first or a later one."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value - 1)
        case str() if value.isdigit():
            yield from (str(int(value) + 1), f"{value}x")
        case str():
            yield from (f"{value}x", f"x{value}", "2Gi", "Never")


def set_leaf(obj: Any, steps: LeafPath, value: Any) -> bool:
    """Set one leaf; whether it was there."""
    for step in steps[:-1]:
        obj = _below(obj, step)
        if obj is None:
            return False
    last = steps[-1]
    if isinstance(obj, dict) and last in obj:
        obj[last] = value
        return True
    if isinstance(obj, list) and isinstance(last, int) and last < len(obj):
        obj[last] = value
        return True
    return False


def leaf_value(obj: Any, steps: LeafPath) -> Any:
    for step in steps:
        obj = _below(obj, step)
    return obj


def shown_leaf(steps: LeafPath) -> str:
    return "." + ".".join(map(str, steps))


def _below(obj: Any, step: str | int) -> Any:
    if isinstance(obj, dict):
        return obj.get(step)
    if isinstance(obj, list) and isinstance(step, int):
        return obj[step] if step < len(obj) else None
    if isinstance(obj, list):
        return next(
            (it for it in obj if isinstance(it, dict) and f"name={it.get('name')}" == step), None
        )
    return None


def _leaf_steps(value: Any, steps: LeafPath) -> Iterator[LeafPath]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaf_steps(item, (*steps, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            named = isinstance(item, dict) and isinstance(item.get("name"), str)
            yield from _leaf_steps(item, (*steps, f"name={item['name']}" if named else number))
    else:
        yield steps


def _body(request: SeenRequest) -> Json:
    """Empty where it is no JSON, or a patch by steps."""
    try:
        return as_map(json.loads(request.body))
    except (ValueError, RecursionError):
        return {}
