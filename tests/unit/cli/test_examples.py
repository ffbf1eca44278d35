"""Every help text ends with examples, and each example is a command that its parser accepts."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from rolecall.cli import commands, parser_for
from rolecall.cli.flag_parser import choose
from rolecall.cli.parsers import EXAMPLES, parsers_in

# One that follows its command: a line of a shell may pipe into `rolecall`, or source its output.
_COMMAND = re.compile(r"\brolecall ([^|)]+)")


def every_parser() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command and each verb of one, by the words that name it."""
    for name in commands():
        parser = parsers_in(parser_for([name]))[name]
        yield name, parser
        for verb, inner in parsers_in(parser).items():
            yield f"{name} {verb}", inner


PARSERS = dict(every_parser())


def examples_of(parser: argparse.ArgumentParser) -> list[str]:
    _, heading, examples = (parser.epilog or "").rpartition(f"{EXAMPLES}\n")
    return examples.splitlines() if heading else []


def words_of(example: str) -> list[str]:
    found = _COMMAND.search(example.partition("  # ")[0])
    assert found, f"{example} runs no command of rolecall"
    return shlex.split(found[1])


@pytest.mark.parametrize("name", PARSERS)
def test_help_ends_with_two_to_four_examples_of_its_command(name: str) -> None:
    examples = examples_of(PARSERS[name])
    assert 2 <= len(examples) <= 4
    of_this = [it for it in examples if f"rolecall {name}" in it or "rolecall --" in it]
    assert of_this == examples
    assert PARSERS[name].format_help().rstrip().endswith("\n".join(examples))


@pytest.mark.parametrize("name", PARSERS)
def test_each_example_has_an_explanation_and_fits_on_a_line(name: str) -> None:
    examples = examples_of(PARSERS[name])
    assert [it for it in examples if not it.partition("  # ")[2] or len(it) > 110] == []


@pytest.mark.parametrize(
    "words", [words_of(it) for each in PARSERS.values() for it in examples_of(each)], ids=" ".join
)
def test_each_example_is_accepted_by_the_parser(words: list[str]) -> None:
    if words == ["--version"]:
        with pytest.raises(SystemExit, match="0"):
            parser_for(words).parse_args(words)
        return
    parsed = parser_for(words).parse_args(words)
    if words[0] == "run":
        assert choose(parsed.words, {}).warnings == ()
