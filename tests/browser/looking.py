"""A reader with a browser, and what he may do with it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT, EngineProcess
from tests.fixtures.eventually import eventually

GROUP = "browser.rolecall.dev"
PICTURES = ROOT / "build" / "screenshots"
# What `PICTURES=1 make test-browser` writes anew; docs/guides/page.md shows them.
IN_THE_GUIDE = ("overview-light", "object-light", "run-light", "object-phone")
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
# axe's rules that WCAG 2.2 AA asks for, and its best practices.
_AXE = {"resultTypes": ["violations"]}


@dataclass
class Looking:
    """What one browser showed, and what it had against that."""

    page: Page
    port: int
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)  # addresses of others that were asked

    def go(self, path: str) -> Page:
        self.page.goto(f"http://127.0.0.1:{self.port}{path}")
        return self.page

    def picture(self, name: str, *, whole: bool = False) -> Path:
        """Kept for whoever looks at CI's artifacts."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        # Written here: playwright would leave a thread behind that did it.
        path.write_bytes(self.page.screenshot(full_page=whole))
        if os.environ.get("PICTURES") and name in IN_THE_GUIDE:
            shutil.copy(path, ROOT / "docs" / "guides" / "page")
        return path

    def violations(self) -> list[str]:
        """What axe finds."""
        found = Axe().run(self.page, options=_AXE).response["violations"]
        return [
            f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"][:3]
        ]

    def overflow(self) -> int:
        """By how much the page is wider than the screen."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width


def look(
    browser: Browser, port: int, *, token: str = "", **options: Any
) -> tuple[BrowserContext, Looking]:
    """A new reader; `token`: sent with each request, as `rolecall page` does it."""
    headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
    options = {"viewport": WIDE, "timezone_id": "Europe/Vienna", "locale": "en-GB", **options}
    context = browser.new_context(extra_http_headers=dict(headers), **options)
    context.set_default_timeout(60_000)
    looking = Looking(context.new_page(), port)

    def note(route: Route) -> None:
        url = route.request.url
        if not url.startswith((f"http://127.0.0.1:{port}/", "data:")):
            looking.foreign.append(url)
        route.continue_()

    context.route("**/*", note)
    looking.page.on("pageerror", lambda error: looking.complaints.append(str(error)))
    looking.page.on("console", lambda said: _note_error(looking, said.type, said.text))
    return context, looking


def _note_error(looking: Looking, kind: str, text: str) -> None:
    if kind == "error" and "Content Security Policy" in text:
        looking.complaints.append(text)


@dataclass
class Town:
    """A namespace with shops, and the engine that keeps them."""

    cluster: Cluster
    namespace: str
    engine: EngineProcess
    # Of whoever came by the printed address; logins are limited, so the readers of tests share it.
    session: Any = None

    @property
    def port(self) -> int:
        return self.engine.ports["page"]

    def entrance(self) -> str:
        """The path that a local engine printed."""
        said = r"page to look at.*address=\"?http://[^/]+(/\?token=[\w-]+)"
        found = eventually(lambda: re.findall(said, self.engine.log))
        return str(found[0])

    def open(self, name: str, **spec: Any) -> str:
        """Make a shop; the path of its page."""
        body: Json = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Shop",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }
        self.cluster.api.create(self._shops(), body)
        return f"/cr/{GROUP}/v1/Shop/{self.namespace}/{name}"

    def change(self, name: str, **spec: Any) -> None:
        self.cluster.api.patch(f"{self._shops()}/{name}", {"spec": spec})

    def conditions(self, name: str) -> dict[str, str]:
        status = self.cluster.api.get(f"{self._shops()}/{name}").get("status") or {}
        return {each["type"]: each["status"] for each in status.get("conditions") or []}

    def wait_for(self, name: str, condition: str) -> None:
        """Until a run of it ended so."""
        eventually(lambda: self.conditions(name).get(condition) == "True")

    def _shops(self) -> str:
        return f"/apis/{GROUP}/v1/namespaces/{self.namespace}/shops"
