"""Go's spelling of flags, and which source wins."""

from __future__ import annotations

import pytest

from rolecall.cli.flag_parser import choose
from rolecall.errors import InputError
from rolecall.settings import flags_of_run

FLAGS = flags_of_run()


@pytest.mark.parametrize(
    ("words", "flag", "value"),
    [
        (["--proxy-port=1234"], "proxy-port", 1234),
        (["--proxy-port", "1234"], "proxy-port", 1234),
        (["-proxy-port=1234"], "proxy-port", 1234),
        (["-proxy-port", "1234"], "proxy-port", 1234),
        (["--leader-elect"], "leader-elect", True),
        (["-leader-elect"], "leader-elect", True),
        (["--inject-owner-ref=false"], "inject-owner-ref", False),
        (["--inject-owner-ref=F"], "inject-owner-ref", False),
        (["--ansible-args", "--tags=a"], "ansible-args", "--tags=a"),
        (["--ansible-args=-e x=1 --tags a"], "ansible-args", "-e x=1 --tags a"),
        (["--reconcile-period=1h30m"], "reconcile-period", 5400.0),
        (["--proxy-port=1", "--proxy-port=2"], "proxy-port", 2),
        (["--keep-bytes=50Mi"], "keep-bytes", 50 * 2**20),
        (["--enable-leader-election"], "leader-elect", True),
        (["--metrics-addr=:9"], "metrics-bind-address", ":9"),
        ([], "proxy-port", 8888),
        ([], "reconcile-period", 36000.0),
    ],
)
def test_flag_is_read_as_go_reads_it(words: list[str], flag: str, value: object) -> None:
    assert choose(words, {})[flag] == value


def test_truth_flag_never_takes_the_next_word_and_says_so() -> None:
    chosen = choose(["--leader-elect", "false"], {})
    assert chosen["leader-elect"] is True
    assert chosen.warnings == (
        "ignored `false` on the command line; values of true|false flags are given with `=`",
    )


def test_environment_sets_a_flag_that_was_not_typed() -> None:
    chosen = choose([], {"ROLECALL_PROXY_PORT": "7"})
    assert chosen["proxy-port"] == 7
    assert chosen.origins == {"proxy-port": "ROLECALL_PROXY_PORT"}


def test_typed_flag_wins_over_environment() -> None:
    assert choose(["--proxy-port=8"], {"ROLECALL_PROXY_PORT": "7"})["proxy-port"] == 8


def test_typed_alias_wins_over_environment_of_the_new_name() -> None:
    chosen = choose(["--metrics-addr=:1"], {"ROLECALL_METRICS_BIND_ADDRESS": ":2"})
    assert chosen["metrics-bind-address"] == ":1"
    assert chosen.warnings == ("--metrics-addr is deprecated; use --metrics-bind-address",)


@pytest.mark.parametrize(
    "words",
    [
        ["--leader-elect", "--enable-leader-election"],
        ["--metrics-addr=:1", "--metrics-bind-address=:1"],
    ],
)
def test_both_names_of_one_setting_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError, match=r"only one of .* may be set"):
        choose(words, {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--proxy-prot=1"], "did you mean `--proxy-port`"),
        (["--config=x"], "`rolecall run --help` lists all flags"),
        (["--proxy-port=x"], "--proxy-port: `x` is not a whole number"),
        (["--reconcile-period=5x"], "--reconcile-period: `5x` is not a duration"),
        (["--leader-elect=maybe"], "--leader-elect: `maybe` is not true or false"),
        (["--keep-bytes=1Zi"], "--keep-bytes: `1Zi` is not a size"),
        (["--runner=cold"], "--runner: `cold` is none of warm, stock"),
        (["--proxy-port"], "flag `--proxy-port` was given no value"),
    ],
)
def test_wrong_flag_is_reported_with_its_way_out(words: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        choose(words, {})
    assert message in str(caught.value)


def test_wrong_environment_names_the_variable() -> None:
    with pytest.raises(InputError, match=r"ROLECALL_PROXY_PORT: `x` is not"):
        choose([], {"ROLECALL_PROXY_PORT": "x"})


@pytest.mark.parametrize("name", FLAGS)
def test_every_flag_can_be_set_by_environment(name: str) -> None:
    flag = FLAGS[name]
    sample = {"NUMBER": "3", "DECIMAL": "3", "BYTES": "3", "DURATION": "3s", "true|false": "true"}
    text = flag.choices[-1] if flag.choices else sample.get(flag.kind.value, "some")
    chosen = choose([], {flag.variable: text})
    assert chosen.origins == {flag.alias_of or name: flag.variable}
