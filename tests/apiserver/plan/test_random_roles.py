"""Of roles made by chance, a plan says what the run then does, or that it does not know."""

from __future__ import annotations

import pytest

from tests.apiserver.plan.comparison import differences_from
from tests.apiserver.plan.harness import PlanBench
from tests.apiserver.plan.random_roles import random_objects, random_role

# Some seconds each on a busy machine; more were tried by hand.
SEEDS = range(12)


@pytest.mark.nightly
async def test_plans_of_random_roles_are_what_their_runs_do(bench: PlanBench) -> None:
    wrong: list[str] = []
    for seed in SEEDS:
        await bench.clear()
        for body in random_objects(seed, bench.namespace):
            await bench.cluster_apply(body)
        held = await bench.planned(random_role(seed, bench.namespace))
        result = await held.run()
        if bool(held.plan.failure) != (not result.succeeded):
            wrong.append(f"seed {seed}: plan {held.plan.failure or 'good'}, run {result.failures}")
            continue
        after = await bench.snapshot(bench.namespace)
        wrong += [
            f"seed {seed}: {each}" for each in differences_from(held.plan, held.before, after)
        ]
    assert not wrong, "\n".join(wrong)
