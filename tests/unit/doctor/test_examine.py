"""Each look stands alone: slow, failing or broken ones hide nothing of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from rolecall.errors import InputError
from rolecall_dev.doctor import LOOKS, Diagnosis, DiagnosisState, Look, Surroundings, done, examine
from tests.unit.doctor.conftest import ServeTime, kubeconfig

Made = Callable[..., Surroundings]


async def fine(_: Surroundings) -> Sequence[Diagnosis]:
    return [done("as it should be")]


async def slow(_: Surroundings) -> Sequence[Diagnosis]:
    await asyncio.Event().wait()
    return []


async def refusing(_: Surroundings) -> Sequence[Diagnosis]:
    raise InputError("that is wrong", hint="write it so")


async def broken(_: Surroundings) -> Sequence[Diagnosis]:
    raise LookupError("ours")


async def seen(
    surroundings: Surroundings, looks: Sequence[Look], on_bug: Callable[[str], None] = print
) -> dict[str, Sequence[Diagnosis]]:
    examined = examine(surroundings, looks, limit_s=0.2, on_bug=on_bug)
    return {name: rows async for name, rows in examined}


async def test_failing_look_hides_no_other(surroundings: Made) -> None:
    looks = [Look("slow", slow), Look("refusing", refusing), Look("broken", broken)]
    traces: list[str] = []
    found = await seen(surroundings(), [*looks, Look("fine", fine)], traces.append)
    assert [(name, rows[0].state) for name, rows in found.items()] == [
        ("slow", DiagnosisState.TO_DO),
        ("refusing", DiagnosisState.TO_DO),
        ("broken", DiagnosisState.TO_DO),
        ("fine", DiagnosisState.OK),
    ]
    assert (found["refusing"][0].what, found["refusing"][0].way_out) == (
        "that is wrong",
        "write it so",
    )
    assert "not seen within 0.2 s" in found["slow"][0].what
    assert len(traces) == 1
    assert "LookupError: ours" in traces[0]


async def test_cluster_that_is_away_is_reported_once(surroundings: Made) -> None:
    file = "/does/not/exist"
    found = {name: rows async for name, rows in examine(surroundings({"KUBECONFIG": file}), LOOKS)}
    assert found["cluster"][0].state is DiagnosisState.TO_DO
    assert file in found["cluster"][0].what
    for name in ("clock", "kinds", "rights", "webhooks"):
        assert [row.state for row in found[name]] == [DiagnosisState.NOT_LOOKED], name
    for name in ("versions", "ports", "artifacts"):
        assert found[name][0].state is DiagnosisState.OK, found[name]


async def test_api_server_that_is_down_is_named(surroundings: Made) -> None:
    here = surroundings()
    file = kubeconfig(here.project, "http://127.0.0.1:9")
    there = surroundings({"KUBECONFIG": str(file)})
    found = {name: rows async for name, rows in examine(there, LOOKS)}
    assert "127.0.0.1:9" in found["cluster"][0].what
    assert found["rights"][0].state is DiagnosisState.NOT_LOOKED


@pytest.mark.usefixtures("project")
async def test_everything_that_needs_no_kinds_is_fine(
    surroundings: Made, serve_time: ServeTime
) -> None:
    async with serve_time() as environment:
        found = {name: rows async for name, rows in examine(surroundings(environment), LOOKS)}
    states = {name: rows[0].state for name, rows in found.items()}
    assert DiagnosisState.TO_DO not in states.values(), found
    assert states["cluster"] is states["clock"] is DiagnosisState.OK
    assert "v1.99.0" in found["cluster"][0].what
    assert "KUBECONFIG is" in found["cluster"][0].what
