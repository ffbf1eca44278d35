"""Counts what each run used, as metrics and in the ledger."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from rolecall.extending import EndedTurn, EngineView, Extension
from rolecall.extensions.usage.figures import METRICS, UsageFigures
from rolecall.extensions.usage.ledger import UsageLedger
from rolecall.extensions.usage.model import CrOfRuns, Usage
from rolecall.log_fields import log_fields
from rolecall.reconcile import Outcome
from rolecall.record import RunRecord
from rolecall.runner import outcome_of
from rolecall.workqueue import Key

_NOT_FOUND = 404
_logger = logging.getLogger(__name__)


class UsageExtension(Extension):
    name = "usage"
    metrics = METRICS

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        runner = engine.settings.runner
        self._ledger = UsageLedger(runner.root, runner.server)
        self._figures = UsageFigures()
        self._figures.show_in(engine.metrics)
        self._has_warned = False  # that the ledger cannot be written

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        used = [
            (each.turn.key, used_by(each.outcome, each.findings.of(RunRecord))) for each in turns
        ]
        for key, usage in used:
            self._figures.used(key, usage)
        try:
            self._ledger.add(
                [(_name_of(key), usage) for key, usage in used], self.engine.clock.now()
            )
        except OSError as error:
            level = logging.DEBUG if self._has_warned else logging.WARNING
            why = error.strerror or str(error)
            _logger.log(level, "what runs use could not be written down", extra=log_fields(why=why))
            self._has_warned = True
        else:
            self._has_warned = False


def used_by(outcome: Outcome, record: RunRecord | None) -> Usage:
    """What a turn's run used; of a CR that is gone, that it owns nothing any more."""
    trail = outcome.trail
    if trail is None:
        return Usage(owned=0)
    result = trail.result
    is_known = record is not None and record.is_complete and result.succeeded
    return Usage(
        runs=1,
        failed=1 if outcome_of(result) == "failed" else 0,
        seconds=result.seconds,
        cpu_s=result.cpu_s or 0.0,
        requests=len(record.requests) if record is not None else 0,
        owned=_owned_by(record) if record is not None and is_known else None,
    )


def _owned_by(record: RunRecord) -> int:
    """Objects that the run saw last as the CR's."""
    owned: set[tuple[str, ...]] = set()
    for each in record.requests:
        place = (each.group, each.resource, each.namespace, each.name)
        is_good = 200 <= each.code < 300
        if (each.verb == "delete" and is_good) or each.code == _NOT_FOUND:
            owned.discard(place)
        elif is_good and each.is_owned and not each.is_dry_run and each.name:
            owned.add(place)
    return len(owned)


def _name_of(key: Key) -> CrOfRuns:
    return CrOfRuns(key.gvk.api_version, key.gvk.kind, key.namespace, key.name)
