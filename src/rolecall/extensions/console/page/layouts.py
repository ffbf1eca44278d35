"""What all pages have around them, for the user who asks."""

from __future__ import annotations

from rolecall.extending import EnginePorts
from rolecall.extensions.console.page.guard import Asker
from rolecall.extensions.console.page.parts import notice_of
from rolecall.extensions.console.page.views import PageLayout
from rolecall.workqueue import Key


class Layouts:
    def __init__(self, engine: EnginePorts, static: str) -> None:
        self._engine, self._static = engine, static

    def of(self, asker: Asker | None, position: str = "", key: Key | None = None) -> PageLayout:
        """`key`: the CR that the page is about."""
        if asker is None:
            return PageLayout(static=self._static)
        return PageLayout(
            reader_name=asker.reader.name,
            is_local=asker.reader.is_local,
            form_token=asker.session.form_token,
            position=position,
            notice=notice_of(self._engine, key),
            static=self._static,
        )
