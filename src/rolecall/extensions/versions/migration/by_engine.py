"""The engine's own migrations: after each change of a storage version, slowly, by one replica alone.

It is cancelled where that goes, and begins
anew on the next: what was rewritten costs a request and no write (see `rewrite`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.extensions.versions.migration.rewrite import MigrationCounts
from rolecall.extensions.versions.migration.stored import read_stored
from rolecall.extensions.versions.migration.whole_kind import (
    Migrated,
    MigrationError,
    Pace,
    migrate,
)
from rolecall.gvk import Gvk
from rolecall.kube import Client, NoSuchKindError, NotFoundError
from rolecall.log_fields import log_fields

_EVERY_S = 300.0
_LISTED_WITHIN_S = 1.0
_PER_SECOND = 20.0
_SHOWN = 5  # of the objects that were refused
_logger = logging.getLogger(__name__)


class EngineMigration:
    """Looks at the CRDs of the watched kinds from time to time."""

    def __init__(
        self,
        client: Client,
        kinds: Sequence[Gvk],
        clock: Clock,
        *,
        is_listed: Callable[[], bool],
    ) -> None:
        self._client = client
        self._kinds = [gvk for gvk in kinds if "." in gvk.group]
        self._clock = clock
        self._is_listed = is_listed
        self._last_errors: dict[str, str] = {}  # by CRD: the last error, so that it is logged once

    async def run(self) -> None:
        while not self._is_listed():
            await self._clock.sleep(_LISTED_WITHIN_S)  # plays of a start go first
        while True:
            for gvk in self._kinds:
                await self._look_at(gvk)
            await self._clock.sleep(_EVERY_S)

    async def _look_at(self, gvk: Gvk) -> None:
        try:
            crd = (await self._client.resource_for(gvk)).plural + f".{gvk.group}"
            if (await read_stored(self._client, crd)).older:
                await self._migrate(crd)
        except (NoSuchKindError, NotFoundError):
            return  # not installed now, or of an API server of its own
        except ClusterError as failure:
            self._warn(gvk, failure)

    async def _migrate(self, crd: str) -> None:
        def on_progress(progress: MigrationCounts) -> None:
            fields = log_fields(crd=crd, seen=progress.seen, rewritten=progress.rewritten)
            _logger.info("storage migration goes on", extra=fields)

        done: Migrated = await migrate(
            self._client, crd, Pace(_PER_SECOND, self._clock, on_progress)
        )
        _logger.info(
            "storage migration done",
            extra=log_fields(
                crd=crd,
                seen=done.counts.seen,
                rewritten=done.counts.rewritten,
                stored=done.kind.storage,
                dropped=", ".join(done.dropped),
            ),
        )

    def _warn(self, gvk: Gvk, failure: ClusterError) -> None:
        refused = failure.refused[:_SHOWN] if isinstance(failure, MigrationError) else ()
        parts = (failure.message, *map(str, refused), failure.hint)
        why = "; ".join(part for part in parts if part)
        if self._last_errors.get(gvk.kind) != why:
            self._last_errors[gvk.kind] = why
            _logger.warning("storage migration: %s", why)
