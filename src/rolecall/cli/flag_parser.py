"""From a command line in Go's spelling, and the environment, to one value for each flag.

Promises Go's rules: `--flag=value`, `--flag value`, one dash or two, booleans without a value mean true
and never take the next word. Typed flags win over `ROLECALL_<FLAG>` variables. argparse prints the help
but does not read: it parses `--leader-elect false` (true, and a stray word) like `--proxy-port 1`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn

from rolecall.documents import parse_duration
from rolecall.errors import InputError
from rolecall.settings import Chosen, Flag, FlagKind, flag_groups, flags_of_run

_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False"}
_SIZES = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 10**3, "M": 10**6, "G": 10**9}


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


def parse_truth(text: str) -> bool:
    """Read a boolean as Go does."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("true or false")


def parse_bytes(text: str) -> int:
    """Read a size such as `50Mi`."""
    digits = text.rstrip("KMGik")
    factor = _SIZES.get(text[len(digits) :])
    if factor is None or not digits.isdecimal():
        raise ValueError("a size; use a number with or without Ki, Mi, Gi")
    return int(digits) * factor


def parse_flag(flag: Flag, text: str, source: str) -> Any:
    """Turn the text of one flag into its value; `source` is how the error names where it came from."""
    try:
        value = _parse(flag.kind, text)
    except ValueError as error:
        raise InputError(f"{source}: `{text}` is not {_wanted(flag, error)}") from None
    if flag.choices and value not in flag.choices:
        known = ", ".join(flag.choices)
        raise InputError(f"{source}: `{text}` is none of {known}")
    return value


def _parse(kind: FlagKind, text: str) -> Any:
    match kind:
        case FlagKind.TRUTH:
            return parse_truth(text)
        case FlagKind.WHOLE:
            return int(text)
        case FlagKind.NUMBER:
            return float(text)
        case FlagKind.BYTES:
            return parse_bytes(text)
        case FlagKind.DURATION:
            return parse_duration(text)
        case FlagKind.TEXT | FlagKind.PATH:
            return text


def _wanted(flag: Flag, error: ValueError) -> str:
    match flag.kind:
        case FlagKind.WHOLE:
            return "a whole number"
        case FlagKind.NUMBER:
            return "a number"
        case FlagKind.DURATION:
            return "a duration; use a number and a unit, such as `30s` or `5m`"
        case _:
            return str(error)
