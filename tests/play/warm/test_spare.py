"""A spare process waits while nothing runs: the next run is faster, and nothing else of it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.play.warm.runs import (
    Tasks,
    Workshop,
    debug,
    is_alive,
    kill,
    spare_of,
    until,
    workshop,
)

WHO_RUNS: Tasks = [debug("{{ lookup('pipe', 'echo $PPID') }}")]


async def _who_ran(shop: Workshop, role: Path) -> int:
    handle, events = await shop.start(role)
    result = await handle.result()
    assert result.succeeded and result.way == "warm", result.reason_text
    said = [event.data["res"]["msg"] for event in events if event.name == "runner_on_ok"]
    return int(said[0])


async def test_spare_process_takes_the_next_run_and_is_followed_by_another(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("reports", WHO_RUNS)
        await _who_ran(shop, role)
        first = await spare_of(shop)
        assert await _who_ran(shop, role) == first
        second = await spare_of(shop)
        assert second != first
        assert await _who_ran(shop, role) == second


async def test_run_is_warm_though_the_spare_process_was_killed(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("reports", WHO_RUNS)
        await _who_ran(shop, role)
        killed = await spare_of(shop)
        kill(killed)
        await until(lambda: not is_alive(killed), "it to be gone")
        assert await _who_ran(shop, role) not in (0, killed)


@pytest.mark.nightly
async def test_no_spare_process_is_left_after_the_host_was_killed(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await _who_ran(shop, shop.role("reports", WHO_RUNS))
        pid = await spare_of(shop)
        kill(shop.host_pid)
        await until(lambda: not is_alive(pid), "it to be gone")


async def test_role_edited_while_there_is_a_spare_process_takes_effect(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("says", [debug("{{ 'old' | upper }}")])
        await shop.run(role)
        await spare_of(shop)
        shop.role("says", [debug("{{ 'new' | upper }}")])
        handle, events = await shop.start(role)
        assert (await handle.result()).way == "warm"
        assert [event.data["res"]["msg"] for event in events if event.name == "runner_on_ok"] == [
            "NEW"
        ]


@pytest.mark.nightly
async def test_role_brings_its_own_filter_though_its_texts_were_read_without(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        own = "class FilterModule:\n    def filters(self): return dict(own=lambda text: text * 2)\n"
        role = shop.role("says", [debug("{{ 'ab' | own }}")], filter_plugins__own_py=own)
        for _ in range(2):
            handle, events = await shop.start(role)
            assert (await handle.result()).way == "warm"
            said = [event.data["res"]["msg"] for event in events if event.name == "runner_on_ok"]
            assert said == ["abab"]
            await spare_of(shop)


@pytest.mark.nightly
async def test_role_brings_a_filter_of_its_own_that_is_named_like_one_of_jinja(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        texts = [debug("{{ 'ab' | upper }} {{ 'ab' | length }}")]
        usual = shop.role("usual", texts)
        own = (
            "class FilterModule:\n    def filters(self): return dict(upper=lambda text: text * 2)\n"
        )
        special = shop.role("special", texts, filter_plugins__own_py=own)
        said = []
        for role in (usual, usual, special, usual, special):
            handle, events = await shop.start(role)
            assert (await handle.result()).way == "warm"
            said += [event.data["res"]["msg"] for event in events if event.name == "runner_on_ok"]
            await spare_of(shop)
        assert said == ["AB 2", "AB 2", "abab 2", "AB 2", "abab 2"]
