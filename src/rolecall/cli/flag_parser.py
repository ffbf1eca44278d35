"""From a command line in Go's spelling, and the environment, to one value for each flag.

Promises Go's rules: `--flag=value`, `--flag value`, one dash or two, booleans without a value mean true
and never take the next word. Typed flags win over `ROLECALL_<FLAG>` variables. argparse prints the help
but does not read: it cannot tell `--leader-elect false` (true, and a stray word) from `--proxy-port 1`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn

from rolecall.cli.flag_values import parse_flag
from rolecall.errors import InputError
from rolecall.settings import Chosen, Flag, FlagKind, flag_groups, flags_of_run


@dataclass(slots=True)
class _Typed:
    """What stood on the command line, before types and defaults."""

    texts: dict[str, str] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    wants_help: bool = False


class FlagParser(argparse.ArgumentParser):
    """Shows help like any other verb; leaves reading to `choose`."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Keep the words as they are, but answer `--help` here."""
        words = list(args or ())
        if _read(words, flags_of_run()).wants_help:
            self._show_help()
        found = namespace or argparse.Namespace()
        found.words = words
        for name, value in self._defaults.items():
            setattr(found, name, value)
        return found, []

    def _show_help(self) -> NoReturn:
        self.print_help()
        self.exit()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give help something to show: all flags, by group."""
    for group in flag_groups():
        section = parser.add_argument_group(group.title)
        for flag in group.flags:
            section.add_argument(f"--{flag.name}", metavar=flag.kind.value, help=describe(flag))


def describe(flag: Flag) -> str:
    if flag.alias_of:
        return f"deprecated: {flag.help}"
    default = f" (default {flag.default})" if flag.default not in ("", "false") else ""
    return (flag.help + default).replace("%", "%%")


def choose(words: Sequence[str], environment: Mapping[str, str]) -> Chosen:
    """Settle the value of every flag: typed, then environment, then default."""
    flags = flags_of_run()
    typed = _read(words, flags)
    aliases = {flag.alias_of: flag for flag in flags.values() if flag.alias_of}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    warnings = [_about_stray(word) for word in typed.strays]
    for flag in flags.values():
        if flag.alias_of:
            continue
        origin, text = _settle(flag, aliases.get(flag.name), typed.texts, environment)
        values[flag.name] = parse_flag(flag, text, origin) if text or origin else None
        if origin:
            origins[flag.name] = origin
        if origin and origin not in (f"--{flag.name}", flag.variable):
            warnings.append(f"{origin} is deprecated; use --{flag.name}")
    return Chosen(values, origins, tuple(warnings))


def _settle(
    flag: Flag, alias: Flag | None, typed: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Where the value comes from, and its text; no origin means the default."""
    names = (flag, alias) if alias else (flag,)
    for source, spelled in ((typed, "name"), (environment, "variable")):
        found = [one for one in names if getattr(one, spelled) in source]
        if len(found) > 1:
            both = " and ".join(f"`--{one.name}`" for one in found)
            raise InputError(f"only one of {both} may be set")
        if found:
            label = getattr(found[0], spelled)
            return (f"--{label}" if spelled == "name" else label), source[label]
    return "", flag.default


def _read(words: Sequence[str], flags: Mapping[str, Flag]) -> _Typed:
    typed = _Typed()
    rest = iter(words)
    for word in rest:
        if word in ("-h", "--help", "-help"):
            typed.wants_help = True
        elif word == "--":
            typed.strays.extend(rest)
        elif not word.startswith("-") or word == "-":
            typed.strays.append(word)
        else:
            _read_flag(word, rest, flags, typed)
    return typed


def _read_flag(word: str, rest: Iterator[str], flags: Mapping[str, Flag], typed: _Typed) -> None:
    name, equals, text = word.lstrip("-").partition("=")
    flag = flags.get(name)
    if flag is None:
        raise _unknown(word, name, flags)
    if not equals:
        value = "true" if flag.kind is FlagKind.TRUTH else next(rest, None)
        if value is None:
            raise InputError(f"flag `--{name}` was given no value")
        text = value
    typed.texts[name] = text


def _unknown(word: str, name: str, known: Iterable[str]) -> InputError:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean `--{near[0]}`?" if near else "`rolecall run --help` lists all flags"
    return InputError(f"flag `{word.partition('=')[0]}` is not known", hint=hint)


def _about_stray(word: str) -> str:
    return f"ignored `{word}` on the command line; values of true|false flags are given with `=`"
