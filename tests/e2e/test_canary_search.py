"""The search for canaries finds what is there: one that finds nothing would be a promise of nothing."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.canary_search import Canaries


def test_search_finds_a_secret_in_each_form(tmp_path: Path) -> None:
    canaries = Canaries()
    value = f'é"{canaries.plant("it")}\n'
    for before in ("", "a", "ab", "abc"):
        for text in (
            before + value,
            base64.b64encode((before + value).encode()).decode(),
            base64.urlsafe_b64encode((before + value).encode()).decode(),
            json.dumps(before + value),
        ):
            assert canaries.in_text(f"x {text} y") == {"it"}, text
    word = canaries.words["it"]
    (tmp_path / word).mkdir()
    (tmp_path / word / "named").touch()
    (tmp_path / "held").write_text(value)
    assert len(canaries.in_files(tmp_path)) == 2
    for what, arguments, environ in (
        ("cmdline", [word], {}),
        ("environ", [], {"CANARY": word}),
    ):
        with _waiting_program(arguments, environ) as pid:
            assert list(canaries.in_processes(what)) == [f"/proc/{pid}"]
        assert canaries.in_processes(what) == {}


@contextmanager
def _waiting_program(arguments: list[str], environ: dict[str, str]) -> Iterator[int]:
    command = [sys.executable, "-c", "print(flush=True); input()", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=os.environ | environ, stdin=pipe, stdout=pipe) as program:
        assert program.stdout is not None
        program.stdout.readline()  # it is not the program before it any more
        yield program.pid
        program.communicate(b"\n")
