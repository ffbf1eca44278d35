"""Drift: what the role made is deleted or edited by hand, and comes back.

All fields that the role set on an object are edited at once: what is repaired tells nothing less than
one edit for each would, and takes one run. Fields that the API server lets nobody change are left out,
and so are those that name the object. What a role did not set is nobody's business: other controllers
write it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
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
from rolecall_dev.proving.tested_cr import EndOfWait, TestedCr
from rolecall_dev.staging import SeenRequest, StateDifference, object_id

_NAME = "drift"
_NOT_ITS_OWN = frozenset({"apiVersion", "kind", "status"})
_NOT_IN_METADATA = frozenset({"name", "namespace", "ownerReferences", "generateName", "finalizers"})
_MOST_LEAVES = 60
# A period that is no longer than this is a way of repairing things that an author may count on.
_SHORT_PERIOD_S = 60.0

LeafPath = tuple[str | int, ...]


def _cases(subject: Subject) -> list[Case]:
    is_alone = not subject.undisturbed.is_confined
    found = []
    for obj in _made_objects(subject):
        key = object_id(obj, subject.undisturbed.leeway)
        name = str(subject.sample)
        found.append(
            Case(_NAME, name, f"{key} deleted", {"id": key, "does": "delete"}, 4.0, is_alone)
        )
        if _set_leaves(subject, obj):
            params = {"id": key, "does": "edit"}
            found.append(Case(_NAME, name, f"{key} edited", params, 4.0, is_alone))
    return found


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    try:
        return await _tried(bench, subject, case, frozenset())
    except _NoWayBackError as found:
        return await _tried(bench, subject, case, found.leaves)


async def _tried(
    bench: Bench, subject: Subject, case: Case, left_out: frozenset[LeafPath]
) -> list[CaseProblem]:
    known = subject.undisturbed
    async with bench.tested(subject) as tested:
        await tested.create()
        await tested.settle(known.expected)
        key = case.params["id"]
        found = [it for it in await tested.objects() if object_id(it, known.leeway) == key]
        if not found:
            bench.told.note(f"{case.name}: the object was not there")
            return []
        if case.params["does"] == "delete":
            await _delete(tested, found[0])
        elif not await _edit(bench, subject, tested, case, (found[0], left_out)):
            return []
        settled = await tested.settle(known.expected)
        if settled.is_as_expected:
            return []
        if case.params["does"] == "delete" and await _is_held(tested, found[0]):
            held_by = ", ".join(found[0]["metadata"].get("finalizers", []))
            bench.told.cannot_prove(
                f"{case.name}: it is held by {held_by}, and so it neither goes nor comes back"
            )
            return []
        await tested.ask_for_run()
        later = await tested.settle(known.expected)
        return _judged(bench, subject, case, tested, (settled.differences, later))


class _NoWayBackError(Exception):
    """The API server would not let anybody take these edits back: a volume never shrinks."""

    def __init__(self, leaves: frozenset[LeafPath]) -> None:
        super().__init__()
        self.leaves = leaves


def _judged(
    bench: Bench,
    subject: Subject,
    case: Case,
    tested: TestedCr,
    seen: tuple[tuple[StateDifference, ...], EndOfWait],
) -> list[CaseProblem]:
    left, later = seen
    period_s = subject.sample.watch.reconcile_period_s
    if later.is_as_expected and 0 < period_s <= _SHORT_PERIOD_S:
        bench.told.note(f"{case.name}: repaired only at the next period, {period_s:g} s at most")
        return []
    when = (
        "only by the next run, which nothing brings"
        if later.is_as_expected
        else "not even by a further run"
    )
    remaining = left if later.is_as_expected else later.differences
    leeway = subject.undisturbed.leeway
    wrote = [
        write
        for obj in subject.undisturbed.objects
        if object_id(obj, leeway) == case.params["id"]
        for write in _writes_to(subject, obj)
    ]
    return [
        CaseProblem(
            told=f"{case.told}, and it is repaired {when}",
            expected="it becomes as the role wants it, without a further word",
            found=shown_differences(remaining) or "it never settles",
            requests=around(tested.traffic.requests, None),
            place=subject.undisturbed.place_of(wrote[-1]) if wrote else "",
            alike=f"{case.params} {shown_differences(remaining)}",
        )
    ]


async def _delete(tested: TestedCr, obj: Json) -> None:
    metadata, gvk = obj["metadata"], Gvk.parse(obj["apiVersion"], obj["kind"])
    await tested.client.delete(gvk, metadata.get("namespace", ""), metadata["name"])


async def _edit(
    bench: Bench,
    subject: Subject,
    tested: TestedCr,
    case: Case,
    what: tuple[Json, frozenset[LeafPath]],
) -> bool:
    """Whether anything could be changed."""
    obj, left_out = what
    resource = await tested.client.resource_for(Gvk.parse(obj["apiVersion"], obj["kind"]))
    path = resource.path(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    leaves = {key: it for key, it in _set_leaves(subject, obj) if key not in left_out}
    edited, fixed = await _edited(tested.client, path, obj, leaves)
    fixed += left_out
    if fixed:
        names = ", ".join(map(_shown, fixed))
        bench.told.note(f"{case.name}: the API server lets nobody change, or change back: {names}")
    if edited is None or not await _put(tested.client, path, edited):
        return False
    if lasting := await _lasting(tested.client, path, edited, leaves):
        raise _NoWayBackError(lasting)
    return True


async def _lasting(
    client: Client, path: str, edited: Json, leaves: dict[LeafPath, Any]
) -> frozenset[LeafPath]:
    """The edits that cannot be taken back."""
    found = set()
    for steps, value in leaves.items():
        trial = copy.deepcopy(edited)
        if _set(trial, steps, value) and not await _put(client, path, trial, is_trial=True):
            found.add(steps)
    return frozenset(found)


async def _edited(
    client: Client, path: str, obj: Json, leaves: dict[LeafPath, Any]
) -> tuple[Json | None, list[LeafPath]]:
    """The object with every leaf changed that may be, and the leaves that may not."""
    edited: Json | None = None
    fixed = []
    for steps, value in leaves.items():
        for other in _others(value):
            trial = copy.deepcopy(edited or obj)
            if _set(trial, steps, other) and await _put(client, path, trial, is_trial=True):
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


def _others(value: Any) -> Iterator[Any]:
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


def _set(obj: Any, steps: LeafPath, value: Any) -> bool:
    """Set one leaf; whether it was there. An element of a list is known by its name, else its place."""
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


def _made_objects(subject: Subject) -> list[Json]:
    """What plays wrote, as far as it is there at the end."""
    return [
        obj
        for obj in subject.undisturbed.objects
        if obj["kind"] != subject.sample.gvk.kind and _writes_to(subject, obj)
    ]


def _writes_to(subject: Subject, obj: Json) -> list[SeenRequest]:
    return _writes_of(subject, obj["metadata"]["name"], Gvk.parse(obj["apiVersion"], obj["kind"]))


def _writes_of(subject: Subject, name: str, gvk: Gvk) -> list[SeenRequest]:
    """Writes about one object: by the name in the path, or in the body of a create."""
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


def _set_leaves(subject: Subject, obj: Json) -> list[tuple[LeafPath, Any]]:
    """The leaves that plays set on an object, with their values as they are now."""
    leaves: dict[LeafPath, None] = {}
    for write in _writes_to(subject, obj):
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
    found = []
    for steps in list(leaves)[:_MOST_LEAVES]:
        value = _value(obj, steps)
        if isinstance(value, bool | int | float | str):
            found.append((steps, value))
    return found


def _value(obj: Any, steps: LeafPath) -> Any:
    for step in steps:
        obj = _below(obj, step)
    return obj


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


def _shown(steps: LeafPath) -> str:
    return "." + ".".join(map(str, steps))


async def _is_held(tested: TestedCr, obj: Json) -> bool:
    """Whether the very object waits for somebody's finalizer."""
    uid = obj["metadata"]["uid"]
    return any(
        it["metadata"]["uid"] == uid and it["metadata"].get("deletionTimestamp")
        for it in await tested.objects()
    )


DRIFT = OperatorCheck(_NAME, "what the role made is deleted and edited by hand", _cases, _run)
