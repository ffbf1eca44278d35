"""A local page: who gets to see the address that lets one in, and what it learns of the engine."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.extending.views import engine_view
from tests.unit.extensions.console.control.engine import World, asked
from tests.unit.extensions.console.page.trends.ended import SHOP, ended, gone, site

from rolecall.errors import InputError
from rolecall.extending import Endpoints
from rolecall.extensions.console.extension import ConsoleExtension
from rolecall.extensions.console.flags import PageFlags
from rolecall.extensions.console.page.trends import TrendSpan
from rolecall.settings import RunnerSettings, Settings


def console(root: Path, *, bind: str = "127.0.0.1:0", is_in_pod: bool = False) -> ConsoleExtension:
    flags = PageFlags(bind=bind, access="local")
    runner = RunnerSettings(root=root)
    settings = Settings(runner=runner, is_in_pod=is_in_pod, of_extensions=(flags,))
    world, client = World(root), SimpleNamespace(credentials=None)  # no test looks at the page
    view = engine_view(root, settings=settings, client=client, inspected=lambda: world.ports)
    return ConsoleExtension(view)


def socket_in(root: Path) -> Path:
    (found,) = root.glob("control*.sock")
    return found


@pytest.mark.parametrize("is_in_pod", [False, True])
async def test_token_of_a_local_page_is_logged_outside_of_pods_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_in_pod: bool
) -> None:
    """Logs of a pod are read by more people than may look at the page."""
    caplog.set_level(logging.INFO)
    endpoints = Endpoints()
    async with console(tmp_path, is_in_pod=is_in_pod).open(endpoints):
        _, page = await asked(socket_in(tmp_path), "GET", "/v1/page")
    (said,) = [each for each in caplog.records if "page to look at" in each.getMessage()]
    address = vars(said)["fields"]["address"]
    assert str(endpoints.ports["page"]) in address
    assert ("token=" in address) is not is_in_pod
    assert "token=" in page["address"], "`rolecall page` prints it in both cases"


async def test_turns_that_ended_are_seen_on_the_page_by_those_who_may_list_them(
    tmp_path: Path,
) -> None:
    """As the engine reports them, in a thread."""
    extension, turns = (
        console(tmp_path),
        [ended(site("a")), ended(site("b"), "failed"), gone(site("c"))],
    )
    async with extension.open(Endpoints()):
        await asyncio.to_thread(extension.turns_ended, turns)
        assert extension._page is not None
        for places, runs, failed in (([SHOP], 2, 1), ([], 0, 0)):
            seen = extension._page.trends.seen(places, (), TrendSpan.HOUR)
            assert sum(each.runs for each in seen.all) == runs
            assert sum(each.failed for each in seen.all) == failed


async def test_turns_cost_an_engine_without_a_page_nothing(tmp_path: Path) -> None:
    extension = console(tmp_path, bind="")
    async with extension.open(Endpoints()):
        extension.turns_ended([ended(site("a"))])
        assert extension._page is None and extension.parts() == {}


async def test_page_without_logins_is_served_on_this_machine_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can be reached from other machines"):
        async with console(tmp_path, bind=":0").open(Endpoints()):
            pass
