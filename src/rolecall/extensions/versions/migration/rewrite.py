"""One pass over all objects of a kind: each is written unchanged, so that it is stored anew.

An empty merge patch does it. The API server writes an object only if its bytes in etcd would differ, so
an object at an older version is stored anew, and one at the storage version is not touched: no write,
no new `resourceVersion`, no event for watches. So a pass that was killed can simply restart, without
saved progress: a migrated object costs a request and no write.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from rolecall.clock import Clock
from rolecall.extensions.versions.migration.stored import StoredKind
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import (
    ApiError,
    Client,
    ConflictError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    UnauthorizedError,
    UnavailableError,
)

MOST_REFUSED = 100  # so many mean a common cause; more would not help the user
_TRIES = 5
_FIRST_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that could not be stored anew, and why."""

    namespace: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{'/'.join(part for part in (self.namespace, self.name) if part)}: {self.why}"


@dataclass(slots=True)
class MigrationCounts:
    """What came of the objects so far."""

    seen: int = 0
    rewritten: int = 0
    refused: list[Refused] = field(default_factory=list)

    @property
    def is_hopeless(self) -> bool:
        return len(self.refused) >= MOST_REFUSED


OnProgress = Callable[[MigrationCounts], None]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Writes objects at no more than so many a second."""

    client: Client
    clock: Clock
    per_second: float  # 0: as fast as the API server answers
    is_trial: bool  # asks the API server what it would say, and stores nothing
    on_progress: OnProgress

    async def run(self, kind: StoredKind) -> MigrationCounts:
        """One pass; ends early where most objects are refused."""
        progress = MigrationCounts()
        began = self.clock.monotonic()
        async for page in self._pages(kind):
            for item in page:
                await self._one(kind.written_at, item["metadata"], progress)
                if progress.is_hopeless:
                    return progress
                await self._wait(began, progress)
            self.on_progress(progress)
        return progress

    async def _one(self, gvk: Gvk, metadata: Json, progress: MigrationCounts) -> None:
        place = (metadata.get("namespace", ""), metadata["name"])
        progress.seen += 1
        try:
            answer = await self._tried(lambda: self._written(gvk, place))
        except (NotFoundError, ConflictError):
            return  # deleted, or written concurrently and thereby stored anew
        except UnauthorizedError:
            raise
        except ApiError as failure:
            if isinstance(failure, ForbiddenError) and is_lacking_right(failure):
                raise
            progress.refused.append(Refused(*place, failure.message))
            return
        if answer["metadata"].get("resourceVersion") != metadata.get("resourceVersion"):
            progress.rewritten += 1

    def _written(self, gvk: Gvk, place: tuple[str, str]) -> Awaitable[Json]:
        return self.client.merge_patch(gvk, *place, {}, is_trial=self.is_trial)

    async def _tried(self, call: Callable[[], Awaitable[Json]]) -> Json:
        """Once more, and later, where the API server has no time."""
        pause_s = _FIRST_PAUSE_S
        for _ in range(_TRIES - 1):
            try:
                return await call()
            except UnavailableError:
                await self.clock.sleep(pause_s)
                pause_s *= 2
        return await call()

    async def _wait(self, began: float, progress: MigrationCounts) -> None:
        """What was written counts; what was there already costs the API server next to nothing."""
        if self.per_second:
            ahead_s = began + progress.rewritten / self.per_second - self.clock.monotonic()
            if ahead_s > 0:
                await self.clock.sleep(ahead_s)

    async def _pages(self, kind: StoredKind) -> AsyncIterator[list[Json]]:
        """All objects in the order of their names, each once.

        A list of which the API server has forgotten the rest is begun anew behind the last one. Where
        objects cannot be listed at one version, since one of them cannot be converted, another may do.
        """
        last, ways = "", list(kind.listed_at)
        while ways:
            try:
                async for page in self.client.pages(ways[0], metadata_only=True):
                    fresh = [item for item in page.items if _position(item) > last]
                    if fresh:
                        last = _position(fresh[-1])
                        yield fresh
                return
            except GoneError:
                continue
            except ApiError as failure:
                if failure.code != 500 or len(ways) == 1:
                    raise
                del ways[0]


def is_lacking_right(failure: ForbiddenError) -> bool:
    """RBAC said no, and not a webhook or a policy to this one object."""
    return "cannot patch resource" in failure.message


def _position(item: Json) -> str:
    """As etcd sorts them."""
    metadata = item["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"
