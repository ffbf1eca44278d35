"""What looks are given, and what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum
from pathlib import Path

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError, RolecallError
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from rolecall.settings import Settings
from rolecall.watches import Watch


# One line of what was looked at: it is fine, something must be done, or it could not be looked at.
class DiagnosisState(Enum):
    """How it is; the text is what people and programs read."""

    OK = "ok"
    TO_DO = "do"
    NOT_LOOKED = "-"  # because of something else, which has a line of its own


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was seen, and the way out where there is something to do."""

    state: DiagnosisState
    what: str
    way_out: str = ""


def done(what: str) -> Diagnosis:
    """It is fine."""
    return Diagnosis(DiagnosisState.OK, what)


def to_do(what: str, way_out: str = "") -> Diagnosis:
    """Something must be done."""
    return Diagnosis(DiagnosisState.TO_DO, what, way_out)


def not_looked(why: str) -> Diagnosis:
    """Nothing is known."""
    return Diagnosis(DiagnosisState.NOT_LOOKED, why)


# What the looks share: the settings of `rolecall run` here, the project's watches, and the cluster.
# The first look that needs the cluster connects to it, once for all; if that fails, the look `cluster`
# reports the reason, and the other looks report that they were skipped.

# Less than the limit of a look, so that the look itself can say what it waited for.
_PATIENCE_S = 8.0


class NotReachedError(RolecallError):
    """The cluster was needed and is not there; the look `cluster` says why."""


@dataclass(frozen=True, slots=True)
class ReachedCluster:
    """A cluster that answered."""

    client: Client
    version: str
    skew: timedelta | None  # how far our clock is ahead of its; None where it did not say


@dataclass(slots=True)
class Surroundings:
    settings: Settings
    watches: Sequence[Watch]  # empty where watches.yaml cannot be read; a look of its own says so
    watches_fault: RolecallError | None
    environment: Mapping[str, str]
    project: Path
    user: str = ""  # whose rights are asked about; empty: those of the kubeconfig
    _reached: asyncio.Task[ReachedCluster] | None = None
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def cluster(self) -> ReachedCluster:
        """The cluster; raises `ClusterError` or `InputError` with the reason why it is not there."""
        if self._reached is None:
            self._reached = asyncio.ensure_future(self._reach())
        return await asyncio.shield(self._reached)

    async def needed_cluster(self) -> ReachedCluster:
        """The same for looks that are not about whether it is there."""
        try:
            return await self.cluster()
        except RolecallError:
            raise NotReachedError("the cluster was not reached") from None

    async def read(self, path: str) -> Json:
        """Read one path of the API server."""
        return await (await self.needed_cluster()).client.read_path(path)

    async def close(self) -> None:
        """Leave the cluster alone."""
        if self._reached is not None:
            self._reached.cancel()
            await asyncio.gather(self._reached, return_exceptions=True)
        await self._open.aclose()

    async def _reach(self) -> ReachedCluster:
        credentials = Credentials.load(self.environment)
        client = await self._open.enter_async_context(Client(credentials))
        try:
            async with asyncio.timeout(_PATIENCE_S):
                version = await client.read_path("/version")
                skew = await _skew(client)
        except TimeoutError:
            raise ClusterError(
                f"the API server at {credentials.server} gave no answer in {_PATIENCE_S:g} s"
            ) from None
        return ReachedCluster(client, str(version.get("gitVersion", "of no known version")), skew)


async def _skew(client: Client) -> timedelta | None:
    """Our clock less that of the API server, which names whole seconds."""
    async with client.request_raw("GET", "/version") as response:
        said = response.headers.get("Date", "")
    try:
        theirs: datetime = parsedate_to_datetime(said)
    except ValueError:
        return None
    return SystemClock().now() - theirs
