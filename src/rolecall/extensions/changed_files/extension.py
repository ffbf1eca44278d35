"""Looks at the files of runs that failed, as long as the engine runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rolecall.extending import BackgroundPart, EndedTurn, EngineView, Extension
from rolecall.extensions.changed_files.changed_files import ChangedFiles


class ChangedFilesExtension(Extension):
    name = "changed-files"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        watches = {watch.gvk: watch for watch in engine.watches}
        self._files = ChangedFiles(
            watches, engine.files, engine.last_runs.of, engine.retry, engine.clock
        )

    def parts(self) -> Mapping[str, BackgroundPart]:
        return {"look": self._files.run}

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        for ended in turns:
            self._files.turn_over(ended.turn, ended.outcome)
