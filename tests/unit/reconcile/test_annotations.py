"""What the annotations of a CR may ask for: less than its watch gives, and never more."""

from __future__ import annotations

import pytest

from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

PREFIX = "ansible.sdk.operatorframework.io"


async def test_annotations_lower_verbosity_and_artifacts_of_a_run(setting: Setting) -> None:
    annotations = {f"{PREFIX}/verbosity": "1", f"{PREFIX}/max-runner-artifacts": "3"}
    await setting.shop.create(annotations=annotations)

    await setting.turn()

    request = setting.runner.requests[0]
    assert (request.verbosity, request.keep_artifacts) == (1, 3)
    assert setting.plays.events == [("playbook_on_start", 1)]


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("verbosity", "3", 2),
        ("verbosity", "10", 2),
        ("verbosity", "999999999999999999", 2),
        ("max-runner-artifacts", "0", 20),
        ("max-runner-artifacts", "-1", 20),
        ("max-runner-artifacts", "21", 20),
        ("max-runner-artifacts", "999999999999999999", 20),
        ("reconcile-period", "1ms", 1.0),
        ("reconcile-period", "1ns", 1.0),
        ("reconcile-period", "999ms", 1.0),
    ],
)
async def test_annotation_of_a_tenant_gives_no_more_than_the_watch(
    setting: Setting, caplog: pytest.LogCaptureFixture, name: str, text: str, used: float
) -> None:
    await setting.shop.create(annotations={f"{PREFIX}/{name}": text})

    outcome = await setting.turn()

    request = setting.runner.requests[0]
    got = {
        "verbosity": request.verbosity,
        "max-runner-artifacts": request.keep_artifacts,
        "reconcile-period": outcome.after_s,
    }
    assert got[name] == used
    (reported,) = [each for each in caplog.records if "capped" in each.getMessage()]
    assert f"{PREFIX}/{name}" in str(vars(reported))


async def test_watch_that_keeps_all_artifacts_lets_a_cr_keep_some(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(max_runner_artifacts=0), clock)
    await shop.create(annotations={f"{PREFIX}/max-runner-artifacts": "7"})
    await setting.turn()
    assert setting.runner.requests[0].keep_artifacts == 7


@pytest.mark.parametrize("name", ["verbosity", "max-runner-artifacts"])
async def test_annotation_that_is_no_number_is_named_with_its_cr_and_ignored(
    setting: Setting, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    cr = await setting.shop.create(annotations={f"{PREFIX}/{name}": "two"})

    await setting.turn()

    request = setting.runner.requests[0]
    assert (request.verbosity, request.keep_artifacts) == (2, 20)
    (warning,) = [each for each in caplog.records if "whole number" in each.getMessage()]
    place = {"namespace": cr["metadata"]["namespace"], "name": cr["metadata"]["name"]}
    assert vars(warning)["fields"] == {**place, "annotation": f"{PREFIX}/{name}", "value": "two"}
