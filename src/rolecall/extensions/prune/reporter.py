"""Reports pruned objects: in the log, by an Event on the CR, and in the run's `run.json`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import replace

from rolecall.errors import ClusterError
from rolecall.extensions.prune.ports import FinishedRun, PrunePorts, PruneReport
from rolecall.history import read_run, write_run
from rolecall.log_fields import log_fields
from rolecall.plain_text import listed
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)


class PruneReporter:
    def __init__(self, ports: PrunePorts) -> None:
        self._ports = ports
        self._reported: set[str] = set()  # why inventories could not be kept; each is said once

    def unkept(self, failure: ClusterError) -> None:
        """Inventories can be neither read nor written, so nothing is pruned."""
        what = failure.hint or type(failure).__name__  # the message names the object
        if what not in self._reported:
            self._reported.add(what)
            fields = log_fields(error=failure.message, hint=failure.hint)
            _logger.warning("could not keep what runs made, so nothing was pruned", extra=fields)

    async def report(self, run: FinishedRun, report: PruneReport) -> None:
        if not report.as_json():
            return
        key = run.key
        if report.held:
            _logger.debug("nothing was pruned", extra=_fields(key, why=report.held))
        for what, names in (("deleted", report.deleted), ("released", report.released)):
            if names:
                objects = listed(names)
                _logger.info(
                    f"objects that are no longer wanted were {what}",
                    extra=_fields(key, objects=objects, run=run.result.run_id),
                )
        self._post(run, report)
        await asyncio.to_thread(_add_to_run_file, run, report)

    def _post(self, run: FinishedRun, report: PruneReport) -> None:
        if report.deleted:
            message = f"No longer wanted, and deleted: {listed(report.deleted)}"
            self._ports.events.record(run.cr, kind="Normal", reason="Pruned", message=message)
        if report.reported:
            message = f"No longer wanted; `prune: true` would delete: {listed(report.reported)}"
            self._ports.events.record(run.cr, kind="Normal", reason="PruneReport", message=message)
        if report.stopped:
            _logger.warning("pruning stopped", extra=_fields(run.key, why=report.stopped))
            self._ports.events.record(
                run.cr, kind="Warning", reason="PruneStopped", message=report.stopped
            )
        for why in report.refused:
            _logger.warning("could not prune", extra=_fields(run.key, why=why))
            message = f"An object that is no longer wanted stays: {why}"
            self._ports.events.record(
                run.cr, kind="Warning", reason="PruneRefused", message=message
            )


def _add_to_run_file(run: FinishedRun, report: PruneReport) -> None:
    """What was pruned belongs to the run; blocking."""
    if run.result.artifacts is None:
        return
    with contextlib.suppress(OSError):
        kept = read_run(run.result.artifacts)
        if kept.kind:
            write_run(replace(kept, pruned=report.as_json()))


def _fields(key: Key, **more: object) -> dict[str, dict[str, object]]:
    about = {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
    return log_fields(**about, **more)
