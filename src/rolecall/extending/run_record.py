"""For extensions that decide from what a run read and wrote."""

from __future__ import annotations

import logging

from rolecall.log_fields import log_fields
from rolecall.settings import Settings

_logger = logging.getLogger(__name__)


def warn_without_run_record(settings: Settings, key: str) -> None:
    """Warn where a key of watches.yaml has no effect, since no record is kept."""
    if not settings.proxy.notes_runs:
        why = "`--run-record=false` leaves nothing to decide from"
        _logger.warning("`%s` has no effect", key, extra=log_fields(why=why))
