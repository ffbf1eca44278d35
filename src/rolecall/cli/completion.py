"""`rolecall completion`: has a shell ask us what may come next; and the answers.

The scripts know nothing but how to ask, so a shell that read one once knows commands to come. Errors
are silent: a message in the middle of a line that a user types does not help.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rolecall.cli.parsers import Subparsers, command_parser, parsers_in

if TYPE_CHECKING:
    from rolecall.cli.kind_words import KindWords


_BASH = """\
_rolecall() {
    local IFS=$'\\n' word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(rolecall __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace
    elif [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _rolecall rolecall
"""
_ZSH = """\
#compdef rolecall
_rolecall() {
    local -a found
    found=("${(@f)$(rolecall __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z "${found[1]}" ]]; then
        _files
    elif [[ ${#found} -eq 1 && "${found[1]}" == */ ]]; then
        compadd -S '' -- "${found[@]}"
    else
        compadd -- "${found[@]}"
    fi
}
compdef _rolecall rolecall
"""
_FISH = """\
function __rolecall_complete
    set -l words (commandline --tokenize --cut-at-cursor) (commandline --current-token --cut-at-cursor)
    rolecall __complete $words[2..-1] 2>/dev/null
end
complete --command rolecall --no-files --arguments '(__rolecall_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
# Commands whose first word names a kind or a CR.
_OF_CRS = {"status", "runs", "logs", "reconcile", "stop", "pause", "resume"}


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "completion",
        print_script,
        "Prints a script that lets the shell complete commands, flags, kinds and names.",
        examples={
            "source <(rolecall completion bash)": "in ~/.bashrc",
            "source <(rolecall completion zsh)": "in ~/.zshrc, after compinit",
            "rolecall completion fish | source": "in ~/.config/fish/config.fish",
        },
    )
    parser.add_argument("shell", choices=tuple(SCRIPTS))


def print_script(arguments: argparse.Namespace) -> int:
    print(SCRIPTS[arguments.shell], end="")
    return 0


def complete(
    words: Sequence[str],
    commands: Callable[[], Iterable[str]],
    parser_for: Callable[[Sequence[str]], argparse.ArgumentParser],
) -> int:
    """Print what may stand in the place of the last word, one a line."""
    *before, word = [*words] or [""]
    with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stderr(io.StringIO()):
        if before:
            found = _after(before, word, parser_for(before))
        else:
            found = ["--help", "--version"] if word.startswith("-") else commands()
        for each in sorted({*found}):
            if each.startswith(word):
                print(each)
    return 0


def _after(before: Sequence[str], word: str, whole: argparse.ArgumentParser) -> Iterable[str]:
    parser = _innermost(whole, before[0], before[1:])
    previous = parser._option_string_actions.get(before[-1])
    if previous is not None and previous.nargs != 0:
        return map(str, previous.choices or ())
    if word.startswith("-"):
        return parser._option_string_actions
    if verbs := parsers_in(parser):
        return verbs
    if before[0] in _OF_CRS:
        return _cr_words(word, before, os.environ)
    return _choices(parser)


def _innermost(
    parser: argparse.ArgumentParser, command: str, words: Sequence[str]
) -> argparse.ArgumentParser:
    """The parser of the verb that was typed last: `cluster up` has one below that of `cluster`."""
    parser = parsers_in(parser)[command]
    for word in words:
        parser = parsers_in(parser).get(word, parser)
    return parser


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    positional = parser._get_positional_actions()
    return [str(each) for action in positional for each in action.choices or ()]


def _cr_words(word: str, before: Sequence[str], environ: Mapping[str, str]) -> Iterable[str]:
    """`website/` while the kind is typed, then `website/shop`."""
    from rolecall.cli.engine_choice import silent_place  # noqa: PLC0415 - as fast as can be

    here = silent_place(environ)
    kind, slash, _ = word.partition("/")
    crs = here.crs()
    if not slash:
        kinds = {str(each["kind"]).lower() for each in crs} or _kinds_of_cluster(environ)
        is_alone = before[0] == "status"
        return [*(f"{each}/" for each in kinds), *(kinds if is_alone else ())]
    found = [each["name"] for each in crs if _is_called(each, kind)]
    return [f"{kind}/{name}" for name in found or _names_in_cluster(kind, before, environ)]


def _is_called(cr: Mapping[str, str], word: str) -> bool:
    return bool(word.lower().partition(".")[0] in (cr["kind"].lower(), f"{cr['kind'].lower()}s"))


def _kinds_of_cluster(environ: Mapping[str, str]) -> set[str]:
    return {each.kind.lower() for each in _custom_kinds(environ)}


def _names_in_cluster(
    word: str, before: Sequence[str], environ: Mapping[str, str]
) -> Sequence[str]:
    from rolecall.cli.cluster import names_of  # noqa: PLC0415 - brings aiohttp

    kind = next((each for each in _custom_kinds(environ) if each.is_called(word)), None)
    return names_of(kind, _namespace(before), environ) if kind else []


def _custom_kinds(environ: Mapping[str, str]) -> list[KindWords]:
    """Kinds of users' CRDs: their groups have a domain that is not Kubernetes' own."""
    from rolecall.cli.cluster import kinds_served  # noqa: PLC0415 - brings aiohttp

    return [
        each
        for each in kinds_served(environ)
        if "." in each.group and not each.group.endswith(".k8s.io")
    ]


def _namespace(before: Sequence[str]) -> str:
    for flag, value in pairwise(before):
        if flag in ("-n", "--namespace"):
            return value
    return ""
