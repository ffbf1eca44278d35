"""Deletion: the CR is deleted in each state between, and all goes with it, and nothing else.

For each write the run is held where it was done; then the CR is deleted, and the run goes on. Beside it
lie objects of another client, with labels of the role's own objects: they stay.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import NotFoundError
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import Case, CaseProblem, OperatorCheck, Subject, around
from rolecall_dev.proving.tested_cr import TestedCr
from rolecall_dev.staging import FOREIGN_LABEL, SeenRequest, object_id

_NAME = "deletion"
_HELD_WITHIN_S = 30.0
_CONFIG_MAP, _SECRET = Gvk("", "v1", "ConfigMap"), Gvk("", "v1", "Secret")
_FOREIGN = (_CONFIG_MAP, _SECRET)
_FOREIGN_NAME = "of-another-client"


def _cases(subject: Subject) -> list[Case]:
    is_alone = not subject.undisturbed.is_confined
    name = str(subject.sample)
    found = [Case(_NAME, name, "deleted when all is settled", {"after": None}, 6.0, is_alone)]
    for write in range(len(subject.undisturbed.effects)):
        reported = f"deleted after write {write}" if write else "deleted before the first write"
        found.append(Case(_NAME, name, reported, {"after": write}, 2.0, is_alone))
    return found


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    after = case.params["after"]
    async with bench.tested(subject) as tested:
        if tested.namespace:
            await _make_foreign(tested, subject)
        if after is not None:
            tested.traffic.hold(after)
        await tested.create()
        if after is None:
            # One that never rests has come as far as it comes after so long.
            limit_s = 0.0 if subject.undisturbed.settles else subject.undisturbed.life_s
            await tested.settle(subject.undisturbed.expected, limit_s=limit_s)
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(_HELD_WITHIN_S):
                    await tested.traffic.is_held.wait()
        await tested.delete()
        tested.traffic.release()
        left = await tested.wait_until_gone()
        missing = await _missing_foreign(tested) if tested.namespace else []
        return _problems(subject, case, tested, left, missing)


def _problems(
    subject: Subject, case: Case, tested: TestedCr, left: list[Json], missing: list[str]
) -> list[CaseProblem]:
    problems = []
    requests = around(tested.traffic.requests, None)
    crs = [obj for obj in left if obj["kind"] == subject.sample.gvk.kind]
    others = sorted(object_id(obj, subject.undisturbed.leeway) for obj in left if obj not in crs)
    if crs:
        held_by = ", ".join(crs[0]["metadata"].get("finalizers") or ["nothing"])
        problems.append(
            CaseProblem(
                reported=f"{case.reported}, the CR never goes",
                expected="the CR goes, and its finalizers with it",
                found=f"it is still there, held by: {held_by}",
                remedy="Let the finalizer's tasks succeed where what they remove is gone already,"
                " or was never created.",
                requests=requests,
                alike=f"{_NAME} stays",
            )
        )
    elif others:
        wrote = next(
            (
                each
                for each in tested.traffic.effects
                if each.info.resource and _made(subject, each, left)
            ),
            None,
        )
        problems.append(
            CaseProblem(
                reported=f"{case.reported}, objects stay behind",
                expected="all that was made for the CR goes with it",
                found="\n".join(f"{each} is still there" for each in others),
                remedy="Create the objects in the CR's namespace, where Kubernetes removes them"
                " with it, or delete them in the finalizer.",
                requests=requests,
                place=subject.undisturbed.place_of(wrote),
                alike=f"{_NAME} {' '.join(others)}",
            )
        )
    if missing:
        problems.append(
            CaseProblem(
                reported=f"{case.reported}, foreign objects are deleted, too",
                expected="what was not made for the CR stays",
                found="\n".join(f"{each} is gone" for each in missing),
                remedy="Delete by the name or label of this CR in the finalizer, never all objects of a"
                " kind.",
                requests=requests,
                alike=f"{_NAME} foreign",
            )
        )
    return problems


def _made(subject: Subject, request: SeenRequest, left: list[Json]) -> bool:
    """Whether a write is likely to have made one of what is left."""
    kinds = {Gvk.parse(obj["apiVersion"], obj["kind"]) for obj in left}
    info, plurals = request.info, subject.undisturbed.plurals
    return any(
        (plurals.get(it.group_kind), it.group) == (info.resource, info.group) for it in kinds
    )


async def _make_foreign(tested: TestedCr, subject: Subject) -> None:
    labels = {FOREIGN_LABEL: "true"}
    for obj in subject.undisturbed.objects:
        if obj["kind"] != subject.sample.gvk.kind:
            labels |= as_map(obj["metadata"].get("labels"))
    for gvk in _FOREIGN:
        metadata = {"name": _FOREIGN_NAME, "namespace": tested.namespace, "labels": labels}
        await tested.client.create(
            gvk, {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
        )


async def _missing_foreign(tested: TestedCr) -> list[str]:
    missing = []
    for gvk in _FOREIGN:
        try:
            await tested.client.get(gvk, tested.namespace, _FOREIGN_NAME)
        except NotFoundError:
            missing.append(f"{gvk.kind}/{_FOREIGN_NAME}")
    return missing


DELETION_CHECK = OperatorCheck(
    _NAME, "the CR is deleted in each state between, and all goes with it", _cases, _run
)
