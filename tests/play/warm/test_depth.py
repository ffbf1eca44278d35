"""A play finds group, version and kind in `inventory_file` where it does under the Go operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.extensions.skip import SkipUnchanged
from rolecall.runner import RunEvent
from rolecall.watches import Play, Watch
from tests.play.warm.runs import CASE, KeptHosts, debug, workshop

PARTS = debug("{{ inventory_file.split('/')[4:10] | join(' ') }}")


def said(events: list[RunEvent]) -> str:
    (message,) = [each.data["res"]["msg"] for each in events if each.name == "runner_on_ok"]
    return str(message)


@pytest.mark.parametrize("below", ["root", "deep/er/root"])
@pytest.mark.parametrize("way", ["warm", "stock"])
async def test_parts_of_inventory_file_are_where_existing_roles_look(
    tmp_path: Path, kept: KeptHosts, below: str, way: str
) -> None:
    async with workshop(tmp_path, kept=kept, root=tmp_path / below) as shop:
        role = shop.role("splits", [PARTS])
        watch = Watch(CASE, Play(role, is_role=True), of_extensions=(SkipUnchanged(),), runner=way)
        handle, events = await shop.start(role, watch=watch)
        result = await handle.result()
        assert result.succeeded and result.way == way
        assert said(events) == "test.example.com v1 Case default one inventory"
        assert way == "stock" or result.impure == ""
