"""Words for kubectl reach kubectl, whatever they begin with."""

from __future__ import annotations

import argparse

import pytest

from rolecall.cli import parser_for


def parsed(words: str) -> argparse.Namespace:
    typed = ["cluster", "kubectl", *words.split()]
    return parser_for(typed).parse_args(typed)


@pytest.mark.parametrize(
    ("words", "name", "passed_on"),
    [
        ("get pods", "default", "get pods"),
        ("--name one get pods", "one", "get pods"),
        ("--name=one -n prod get pods", "one", "-n prod get pods"),
        ("-n prod get pods", "default", "-n prod get pods"),
        ("--namespace=prod get pods -o json", "default", "--namespace=prod get pods -o json"),
        ("expose pod web --name front", "default", "expose pod web --name front"),
        ("get pods --help", "default", "get pods --help"),
        ("-- get pods", "default", "get pods"),
        ("exec web -- ls", "default", "exec web -- ls"),
        ("", "default", ""),
    ],
)
def test_all_but_our_own_options_in_front_is_kubectls(
    words: str, name: str, passed_on: str
) -> None:
    found = parsed(words)
    assert (found.name, " ".join(found.passed_on)) == (name, passed_on)


def test_help_in_front_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    assert "--name N" in capsys.readouterr().out


def test_name_without_a_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed("--name")
    assert ended.value.code == 2
    assert "--name" in capsys.readouterr().err
