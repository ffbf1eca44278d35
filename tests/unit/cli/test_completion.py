"""What shells complete: by a real bash, and by what the scripts of all three ask."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools.shells_ready import SHELLS, missing

from tests.fixtures.lacking import skip_or_fail
from tests.unit.cli.fake_engine import FakeEngine, cr

# `tools.ready` names those that the machine cannot have.
LEFT_OUT = os.environ.get("WITHOUT_SHELLS", "").split()

ASK = """
source <(rolecall completion bash)
COMP_WORDS=({words}) COMP_CWORD={last}
_rolecall 2>&1
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(engine: FakeEngine, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    quoted = " ".join(f"'{word}'" for word in ("rolecall", *words))
    script = ASK.format(words=quoted, last=len(words))
    program = Path(engine.root, "bin")
    program.mkdir(exist_ok=True)
    (program / "rolecall").write_text(f'#!/bin/sh\nexec {" ".join(engine.command())} "$@"\n')
    (program / "rolecall").chmod(0o700)
    environ = engine.environ()
    environ["PATH"] = f"{program}:{environ['PATH']}"
    said = subprocess.run(
        ["bash", "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    return [line for line in said.stdout.splitlines() if "compopt" not in line]


@pytest.mark.slow
def test_bash_completes_commands_flags_and_values(engine: FakeEngine) -> None:
    assert completed(engine, "sta") == ["status"]
    assert completed(engine, "re") == ["reconcile", "resume"]
    assert {"--watch", "--output", "--operator"} <= set(completed(engine, "status", "--"))
    assert completed(engine, "status", "-o", "") == ["json", "text"]
    assert completed(engine, "completion", "") == ["bash", "fish", "zsh"]
    assert completed(engine, "cluster", "u") == ["up"]


@pytest.mark.slow
def test_bash_completes_kinds_and_names_of_the_engine(engine: FakeEngine) -> None:
    engine.crs = [cr("shop"), cr("blog"), {**cr("db"), "kind": "Database"}]
    assert completed(engine, "logs", "") == ["database/", "website/"]
    assert completed(engine, "logs", "web") == ["website/"]
    assert completed(engine, "logs", "website/") == ["website/blog", "website/shop"]
    assert completed(engine, "logs", "-f", "websites/s") == ["websites/shop"]


@pytest.mark.parametrize("words", [["logs", "x/"], ["nonsense", ""], ["logs", "--run", ""], []])
def test_whatever_goes_wrong_is_silence(ended_engine: FakeEngine, words: list[str]) -> None:
    said = ended_engine.rolecall("__complete", *words)
    assert (said.returncode, said.stderr) == (0, "")


def test_names_of_what_ran_are_known_without_an_engine(ended_engine: FakeEngine) -> None:
    ended_engine.keep_run("shop", "1", outcome="failed")
    assert ended_engine.rolecall("__complete", "logs", "website/").stdout == "website/shop\n"


@pytest.mark.parametrize(
    "shell",
    [
        # Machines have a bash; the others are in `make test-all` alone.
        pytest.param(each, marks=[] if each == "bash" else [pytest.mark.nightly])
        for each in SHELLS
        if each not in LEFT_OUT
    ],
)
def test_script_is_understood_by_its_shell(engine: FakeEngine, shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(engine.rolecall("completion", shell).stdout)
    assert "rolecall __complete" in script.read_text()
    require(shell)
    subprocess.run([shell, "-n", str(script)], check=True)


def test_missing_shell_is_no_silent_skip_where_all_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="apt-get install no-such-shell"):
        require("no-such-shell")


def require(shell: str) -> None:
    if missing([shell]):
        skip_or_fail(f"a shell was not found\nhint: `apt-get install {shell}`")
