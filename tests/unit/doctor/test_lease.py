"""What a Lease says of who works, and where that is not what the settings ask for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from rolecall.election import new_lease
from rolecall.extensions.shards.flags import ShardFlags
from rolecall.kube import NotFoundError, Target
from rolecall.settings import ElectionSettings, Settings
from rolecall_dev.doctor import Diagnosis, DiagnosisState, Surroundings
from rolecall_dev.doctor.cluster import look_at_lease

ELECTION = ElectionSettings(id="web", namespace="ops")
ALONE = Settings(election=ElectionSettings(is_on=True, id="web", namespace="ops"))
DIVIDED = Settings(election=ELECTION, of_extensions=(ShardFlags(64),))


class Place:
    """Settings, and a cluster with one Lease."""

    def __init__(self, settings: Settings, holder: str | None, silent_s: float = 1.0) -> None:
        self.settings = settings
        self._holder = holder
        self._renewed = datetime.now(UTC) - timedelta(seconds=silent_s)

    async def read(self, path: str) -> Any:
        assert path == "/apis/coordination.k8s.io/v1/namespaces/ops/leases/web"
        if self._holder is None:
            raise NotFoundError("none", code=404, target=Target("get"))
        return new_lease("ops", "web", self._holder, 15, self._renewed)


async def seen(settings: Settings, holder: str | None, silent_s: float = 1.0) -> Diagnosis:
    place = cast(Surroundings, Place(settings, holder, silent_s))
    (found,) = await look_at_lease(place)
    return found


@pytest.mark.parametrize(
    ("settings", "holder", "reported"),
    [
        (ALONE, "web-0_1234", "web-0_1234 leads"),
        (ALONE, None, "does not exist yet"),
        (ALONE, "", "is released"),
        (DIVIDED, "shards/64", "replicas divide the CRs into 64 shards"),
        (ALONE, "shards/64", "replicas divide the CRs into 64 shards"),
        (Settings(), "web-0_1234", "run one operator only"),
    ],
)
async def test_lease_that_is_as_it_should_be_is_fine(
    settings: Settings, holder: str | None, reported: str
) -> None:
    found = await seen(settings, holder)
    assert (found.state, reported in found.what) == (DiagnosisState.OK, True)


@pytest.mark.parametrize(
    ("holder", "reported", "way_out"),
    [
        (
            "shards/32",
            "into 32 shards (Lease ops/web), and the settings here say 64",
            "same number",
        ),
        ("web-0_1234", "web-0_1234 leads by the Lease ops/web", "with the same flags"),
    ],
)
async def test_replicas_of_another_mode_are_reported_with_the_way_out(
    holder: str, reported: str, way_out: str
) -> None:
    found = await seen(DIVIDED, holder)
    assert found.state is DiagnosisState.TO_DO
    assert reported in found.what
    assert way_out in found.way_out


async def test_silent_holder_is_reported() -> None:
    for holder in ("shards/64", "web-0_1234"):
        found = await seen(DIVIDED, holder, silent_s=60)
        assert (found.state, "no operator works now" in found.way_out) == (
            DiagnosisState.TO_DO,
            True,
        )
