"""A reader with a browser, and what he may do with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT, EngineProcess
from tests.fixtures.eventually import eventually

GROUP = "browser.rolecall.dev"
PICTURES = ROOT / "build" / "screenshots"
AXE_REPORT = ROOT / "build" / "axe" / "report.json"
# What `PICTURES=1 make test-browser` writes anew; docs/guides/page.md shows them (test_pictures.py).
IN_THE_GUIDE = ("overview", "kinds", "fleet", "object", "yaml", "plan", "run", "comparison")
WIDE: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 360, "height": 780}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
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

    def picture(self, name: str, *, whole: bool = False, down_to: Locator | None = None) -> Path:
        """Kept as an artifact of CI; `down_to`: of the page from its top to the end of this."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path, options = PICTURES / f"{name}.png", dict[str, Any]()
        if down_to is not None and (box := down_to.bounding_box()):
            height = box["y"] + box["height"] + 10
            options["clip"] = {"x": 0, "y": 0, "width": WIDE["width"], "height": height}
            whole = True
        # Written here: playwright would leave a thread behind that did it.
        path.write_bytes(self.page.screenshot(full_page=whole, **options))
        if os.environ.get("PICTURES") and name in IN_THE_GUIDE:
            shown = shutil.copy(path, ROOT / "docs" / "guides" / "page")
            if smaller := shutil.which("pngquant"):  # a third of its size
                subprocess.run([smaller, "--force", "--ext=.png", "128", shown], check=True)
        return path

    def violations(self, name: str = "") -> list[str]:
        """What axe finds; with a name, that is kept in the report."""
        answer = Axe().run(self.page, options=_AXE).response
        found = [
            f"{each['id']}: {node['html'][:160]}"
            for each in answer["violations"]
            for node in each["nodes"][:3]
        ]
        if name:
            rules = answer["testEngine"]
            write_axe_report(name, f"{rules['name']} {rules['version']}", found)
        return found

    def overflow(self) -> int:
        """By how much the page is wider than the screen."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width


def write_axe_report(view: str, program: str, found: list[str]) -> None:
    """Add a view to the reports for programs and for people, which CI keeps."""
    AXE_REPORT.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(AXE_REPORT.read_text()) if AXE_REPORT.exists() else {}
    kept[view] = {"program": program, "violations": found}
    AXE_REPORT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    lines = [
        f"{name}: {'; '.join(each['violations']) or 'nothing found'} ({each['program']})"
        for name, each in sorted(kept.items())
    ]
    AXE_REPORT.with_suffix(".txt").write_text("\n".join(lines) + "\n")


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
    # Of the printed address; logins are limited, so the readers of tests share it.
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
