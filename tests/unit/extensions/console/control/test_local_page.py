"""A page without logins: who gets to see the address that lets one in."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.extending.views import engine_view
from tests.unit.extensions.console.control.engine import World, asked

from rolecall.errors import InputError
from rolecall.extending import Endpoints
from rolecall.extensions.console.extension import ConsoleExtension
from rolecall.extensions.console.flags import PageFlags
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


async def test_page_without_logins_is_served_on_this_machine_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can be reached from other machines"):
        async with console(tmp_path, bind=":0").open(Endpoints()):
            pass
