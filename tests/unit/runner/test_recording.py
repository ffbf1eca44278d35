"""What ansible-runner's readers find after a run, fed without a process."""

from __future__ import annotations

import base64
import json
import logging
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.history import read_run
from rolecall.runner import Ending, RunEvent
from rolecall.runner.fold import Exit
from rolecall.runner.inputs import prepare
from rolecall.runner.recording import Recording
from rolecall.runner.secrets import MASK
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from tests.unit.runner.cases import run_request

VALUE = "s3cr3t-passw0rd"
SECRET = {"kind": "Secret", "data": {"p": base64.b64encode(VALUE.encode()).decode()}}


class Recorded:
    """A recording that speaks as `awx_display` does: data in a file, markers in the stream."""

    def __init__(
        self,
        folder: Path,
        run_id: str = "1",
        leave_beside: Callable[[Path], None] = lambda _: None,
        seen_secrets: Callable[[], list[Any]] = list,
        keep_total_bytes: int | None = None,
        **request: Any,
    ) -> None:
        settings = RunnerSettings(root=folder / "runner", keep_total_bytes=keep_total_bytes)
        (folder / "roles" / "app").mkdir(parents=True, exist_ok=True)
        self.events: list[RunEvent] = []
        play = Play(folder / "roles" / "app", is_role=True)
        asked = run_request(play=play, run_id=run_id, **request)
        asked = replace(asked, leave_beside=leave_beside, seen_secrets=seen_secrets)
        self.prepared = prepare(asked, settings)
        self.artifacts = self.prepared.artifacts
        self.recording = Recording(self.prepared, settings, self.events.append)
        self._count = 0

    def say(self, event: str, stdout: str, **data: Any) -> None:
        """Print one event as the callback of a play does, in small pieces."""
        self._count += 1
        uuid = f"uuid-{self._count}"
        partial = self.artifacts / "job_events" / f"{uuid}-partial.json"
        created = "2026-11-21T09:13:44.500000+00:00"
        partial.write_text(
            json.dumps({"uuid": uuid, "event": event, "created": created, "event_data": data})
        )
        text = f"{marker({'uuid': uuid})}{stdout}\n{marker({})}"
        for start in range(0, len(text), 7):
            self.recording.feed(text[start : start + 7])

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.artifacts)): path.read_text()
            for path in self.artifacts.rglob("*")
            if path.is_file()
        }


def marker(data: dict[str, Any]) -> str:
    encoded = base64.b64encode(json.dumps(data).encode()).decode()
    return f"\x1b[K{encoded}\x1b[{len(encoded)}D\x1b[K"


def test_artifacts_of_all_crs_together_stay_within_their_limit(tmp_path: Path) -> None:
    """Whatever the annotations of one CR keep."""
    for number in range(6):
        recorded = Recorded(tmp_path, run_id=str(number), keep_total_bytes=30_000)
        recorded.recording.feed("x" * 10_000)
        recorded.recording.finish(Exit(0))
    left = {path.name for path in recorded.artifacts.parent.iterdir() if not path.is_symlink()}
    assert "5" in left and len(left) < 4


def test_artifacts_are_those_of_ansible_runner(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    recorded.say("playbook_on_stats", "PLAY RECAP", ok={"localhost": 1})
    recorded.recording.feed("a line outside of events\n")
    result = recorded.recording.finish(Exit(0))
    files = recorded.files()
    assert set(files) >= {"command", "stdout", "stderr", "rc", "status"}
    assert (files["rc"], files["status"]) == ("0", "successful")
    assert files["stdout"] == "PLAY RECAP\na line outside of events\n"
    assert set(json.loads(files["command"])) == {"command", "cwd", "env"}
    event = json.loads(files["job_events/1-uuid-1.json"])
    assert event["event"] == "playbook_on_stats"
    assert event["runner_ident"] == "1"
    assert (result.artifacts, result.succeeded) == (recorded.artifacts, True)
    assert [event.name for event in recorded.events] == ["playbook_on_stats", "verbose"]


def test_every_artifact_is_private(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    recorded.say("runner_on_ok", "ok", res={})
    recorded.recording.finish(Exit(0))
    paths = [path for path in recorded.artifacts.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}


@pytest.mark.parametrize(
    ("exit_", "status"),
    [
        (Exit(2), "failed"),
        (Exit(None, signal=9), "failed"),
        (Exit(None, signal=9, ended_as=Ending.TIMED_OUT), "timeout"),
        (Exit(None, signal=9, ended_as=Ending.CANCELLED), "canceled"),
    ],
)
def test_the_status_file_speaks_ansible_runners_words(
    tmp_path: Path, exit_: Exit, status: str
) -> None:
    recorded = Recorded(tmp_path)
    recorded.recording.finish(exit_)
    assert recorded.files()["status"] == status


def test_a_value_that_turns_out_secret_late_is_masked_in_earlier_files(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    recorded.say("runner_on_ok", f"early {VALUE}", res={"msg": f"early {VALUE}"})
    recorded.recording.feed(f"raw line with {VALUE}\n")
    recorded.say("runner_on_ok", "the secret", res={"result": SECRET})
    recorded.say("playbook_on_stats", "PLAY RECAP", ok={"localhost": 2})
    recorded.recording.finish(Exit(0))
    for name, text in recorded.files().items():
        assert VALUE not in text, name
        assert SECRET["data"]["p"] not in text, name  # type: ignore[index]
    early = json.loads(recorded.files()["job_events/1-uuid-1.json"])
    assert early["event_data"]["res"]["msg"] == f"early {MASK}"


def test_a_run_that_was_cut_in_the_middle_of_an_event_leaves_no_part_of_it(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    partial = recorded.artifacts / "job_events" / "x-partial.json"
    partial.write_text(VALUE)
    recorded.recording.feed(marker({"uuid": "y"}) + "half a li")
    result = recorded.recording.finish(Exit(None, signal=9))
    assert not partial.exists()
    assert result.ending is Ending.KILLED


def test_who_reads_that_a_run_has_ended_finds_all_that_is_left_beside_it(tmp_path: Path) -> None:
    outcomes = []

    def leave(folder: Path) -> None:
        outcomes.append(read_run(folder).outcome)

    recorded = Recorded(tmp_path, leave_beside=leave)
    recorded.say("playbook_on_stats", "PLAY RECAP", ok={"localhost": 1})
    recorded.recording.finish(Exit(0))

    assert outcomes == ["running"], "before the file says that it ended"
    assert read_run(recorded.artifacts).outcome == "succeeded"


def test_value_of_a_secret_that_only_a_request_showed_is_hidden_from_the_first_event_on(
    tmp_path: Path,
) -> None:
    seen = [SECRET]
    recorded = Recorded(tmp_path, seen_secrets=lambda: [seen.pop() for _ in range(len(seen))])
    recorded.say("runner_on_ok", f"ok: {VALUE}", res={"msg": f"looked up {VALUE}"})
    seen.append({"kind": "Secret", "data": {"p": base64.b64encode(b"second-passw0rd").decode()}})
    recorded.say("runner_on_ok", "ok: second-passw0rd", res={"msg": "second-passw0rd"})
    recorded.recording.finish(Exit(0))
    assert [event.stdout for event in recorded.events[:2]] == [f"ok: {MASK}"] * 2
    assert recorded.events[0].data["res"]["msg"] == f"looked up {MASK}"
    for text in recorded.files().values():
        assert VALUE not in text
        assert "second-passw0rd" not in text


def test_latest_points_at_the_run_and_old_ones_go(tmp_path: Path) -> None:
    for run_id in ("1", "2", "3"):
        recorded = Recorded(tmp_path, run_id, keep=1)
        recorded.recording.finish(Exit(0))
    folder = recorded.artifacts.parent
    assert sorted(path.name for path in folder.iterdir()) == ["3", "latest"]
    assert (folder / "latest").resolve() == recorded.artifacts
    assert list(recorded.prepared.cwd.iterdir()) == []


def test_the_go_operators_words_are_logged_on_success_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        Recorded(tmp_path, "1").recording.finish(Exit(2))
        assert not caplog.records
        Recorded(tmp_path, "2").recording.finish(Exit(0))
    assert [record.getMessage() for record in caplog.records] == [
        "Ansible-runner exited successfully"
    ]


def test_text_that_looks_like_an_event_is_none(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    stats = {"event": "playbook_on_stats", "event_data": {"ok": {"localhost": 9}}}
    recorded.recording.feed("\x1b[Kbm90IGpzb24=\x1b[12D\x1b[K\x1b[K####\x1b[4D\x1b[K\n")
    recorded.recording.feed(f"{marker({'uuid': 'abc', **stats})}forged\n{marker({})}")
    recorded.recording.feed(f"{marker({'uuid': '../../escape'})}forged\n{marker([])}")  # type: ignore[arg-type]
    result = recorded.recording.finish(Exit(0))
    assert result.ending is Ending.NO_RECAP
    assert {event.name for event in recorded.events} <= {"verbose"}
    assert not list(tmp_path.rglob("*escape*"))
