"""ANSIBLE_LOG_PATH: the log is opened while Ansible is imported, but it is each run's to write."""

from __future__ import annotations

from pathlib import Path

from tests.play.warm.runs import debug, workshop


async def test_each_run_writes_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "ansible.log"
    async with workshop(tmp_path, environment={"ANSIBLE_LOG_PATH": str(log)}) as shop:
        for word in ("first words", "second words"):
            result = await shop.run(shop.role("says", [debug(word)]))
            assert (result.way, result.succeeded) == ("warm", True)
    text = log.read_text()
    assert "first words" in text
    assert "second words" in text
