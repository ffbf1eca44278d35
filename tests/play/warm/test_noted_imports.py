"""What a module had to import is there when the next run begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.play.warm.runs import Workshop, spare_of, workshop

REPORTS = """
import sys
was_there = {name!r} in sys.modules
from ansible.module_utils.basic import AnsibleModule
{more}
import {name}
AnsibleModule({{}}).exit_json(was_there=was_there, file=getattr({name}, "__file__", ""))
"""


async def _reported(shop: Workshop, role: Path) -> tuple[bool, str]:
    """Whether the library was there when the module began, and which file it is."""
    handle, events = await shop.start(role)
    result = await handle.result()
    assert result.succeeded and result.way == "warm", result.reason_text
    (said,) = [event.data["res"] for event in events if event.name == "runner_on_ok"]
    return bool(said["was_there"]), str(said["file"])


def _role(shop: Workshop, name: str, more: str = "") -> Path:
    return shop.role(
        "imports", [{"reports": {}}], library__reports_py=REPORTS.format(name=name, more=more)
    )


async def _reported_when_rested(shop: Workshop, role: Path) -> tuple[bool, str]:
    await _reported(shop, role)
    await spare_of(shop)  # by then the host has had time to learn
    return await _reported(shop, role)


@pytest.mark.nightly
async def test_library_that_a_module_imported_is_there_in_the_next_run(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = _role(shop, "kubernetes.client.api.core_v1_api")
        assert (await _reported(shop, role))[0] is False
        assert (await _reported_when_rested(shop, role))[0] is True


@pytest.mark.nightly
async def test_library_of_the_roles_own_stays_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "colorsys.py").write_text("own = True\n")
    async with workshop(tmp_path) as shop:
        role = _role(shop, "colorsys", more=f"sys.path.insert(0, {str(own)!r})")
        assert await _reported_when_rested(shop, role) == (False, str(own / "colorsys.py"))
        other = _role(shop, "colorsys")
        assert (await _reported(shop, other))[1] not in ("", str(own / "colorsys.py"))
