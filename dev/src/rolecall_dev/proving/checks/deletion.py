"""Deletion: the CR is deleted in each state between, and all goes with it, and nothing else.

For each write the run is held where it was done; then the CR is deleted, and the run goes on. Beside it
lie objects of somebody else, with labels of the role's own objects: they stay.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import NotFoundError
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import Case, Check, Problem, Subject, around
from rolecall_dev.proving.scene import Scene
from rolecall_dev.staging import FOREIGN_LABEL, SeenRequest, id_of

_NAME = "deletion"
_HELD_WITHIN_S = 30.0
_CONFIG_MAP, _SECRET = Gvk("", "v1", "ConfigMap"), Gvk("", "v1", "Secret")
_FOREIGN = (_CONFIG_MAP, _SECRET)
_FOREIGN_NAME = "of-somebody-else"


def _cases(subject: Subject) -> list[Case]:
    is_alone = not subject.undisturbed.is_confined
    name = str(subject.sample)
    found = [Case(_NAME, name, "deleted when all is settled", {"after": None}, 6.0, is_alone)]
    for write in range(len(subject.undisturbed.effects)):
        told = f"deleted after write {write}" if write else "deleted before the first write"
        found.append(Case(_NAME, name, told, {"after": write}, 2.0, is_alone))
    return found


async def _run(bench: Bench, subject: Subject, case: Case) -> list[Problem]:
    after = case.params["after"]
    async with bench.scene(subject) as scene:
        if scene.namespace:
            await _make_foreign(scene, subject)
        if after is not None:
            scene.traffic.hold(after)
        await scene.create()
        if after is None:
            await scene.settle(subject.undisturbed.expected)
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(_HELD_WITHIN_S):
                    await scene.traffic.is_held.wait()
        await scene.delete()
        scene.traffic.release()
        left = await scene.wait_until_gone()
        missing = await _missing_foreign(scene) if scene.namespace else []
        return _problems(subject, case, scene, left, missing)


def _problems(
    subject: Subject, case: Case, scene: Scene, left: list[Json], missing: list[str]
) -> list[Problem]:
    problems = []
    requests = around(scene.traffic.requests, None)
    crs = [obj for obj in left if obj["kind"] == subject.sample.gvk.kind]
    others = sorted(id_of(obj, subject.undisturbed.leeway) for obj in left if obj not in crs)
    if crs:
        held_by = ", ".join(crs[0]["metadata"].get("finalizers") or ["nothing"])
        problems.append(
            Problem(
                told=f"{case.told}, the CR never goes",
                expected="the CR goes, and its finalizers with it",
                found=f"it is still there, held by: {held_by}",
                requests=requests,
                alike=f"{_NAME} stays",
            )
        )
    elif others:
        wrote = next(
            (
                each
                for each in scene.traffic.effects
                if each.info.resource and _made(subject, each, left)
            ),
            None,
        )
        problems.append(
            Problem(
                told=f"{case.told}, objects stay behind",
                expected="all that was made for the CR goes with it",
                found="\n".join(f"{each} is still there" for each in others),
                requests=requests,
                place=subject.undisturbed.place_of(wrote),
                alike=f"{_NAME} {' '.join(others)}",
            )
        )
    if missing:
        problems.append(
            Problem(
                told=f"{case.told}, objects of somebody else go, too",
                expected="what was not made for the CR stays",
                found="\n".join(f"{each} is gone" for each in missing),
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


async def _make_foreign(scene: Scene, subject: Subject) -> None:
    labels = {FOREIGN_LABEL: "true"}
    for obj in subject.undisturbed.objects:
        if obj["kind"] != subject.sample.gvk.kind:
            labels |= as_map(obj["metadata"].get("labels"))
    for gvk in _FOREIGN:
        metadata = {"name": _FOREIGN_NAME, "namespace": scene.namespace, "labels": labels}
        await scene.client.create(
            gvk, {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
        )


async def _missing_foreign(scene: Scene) -> list[str]:
    missing = []
    for gvk in _FOREIGN:
        try:
            await scene.client.get(gvk, scene.namespace, _FOREIGN_NAME)
        except NotFoundError:
            missing.append(f"{gvk.kind}/{_FOREIGN_NAME}")
    return missing


DELETION = Check(
    _NAME, "the CR is deleted in each state between, and all goes with it", _cases, _run
)
