"""Whether a `command` or `shell` task does nothing but speak with the cluster of the run.

A plan runs such a task for real: kubectl, oc and helm find the kubeconfig of the run, and so its world.
The rule errs on one side only. Each program of the line must be one of those, or a filter that reads
standard input and writes standard output; whatever this cannot take apart for sure is another command.
So is one that names a cluster of its own, and one that reaches into a pod.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from enum import Enum


class CommandKind(Enum):
    OF_CLUSTER = "of the cluster"
    WAITING = "waiting"
    OTHER = "other"


_CLUSTER_PROGRAMS = frozenset({"helm", "kubectl", "oc"})
_FILTERS = frozenset(
    {
        ":",
        "[",
        "base64",
        "cat",
        "cut",
        "echo",
        "egrep",
        "false",
        "fgrep",
        "grep",
        "head",
        "jq",
        "printf",
        "sort",
        "tail",
        "test",
        "tr",
        "true",
        "uniq",
        "wc",
    }
)
_ENDS_OF_COMMANDS = frozenset({"|", "||", "&&", ";"})
_HARMLESS = re.compile(r"\d?>&\d|\d?>\s*/dev/null|&>\s*/dev/null|<<<?|<")
_UNREADABLE = re.compile(r"`|\$\(|>|(?<![&|])&(?!&)|\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ELSEWHERE = (
    "--kubeconfig",
    "--context",
    "--cluster",
    "--server",
    "--token",
    "--user",
    "--kube-context",
    "--kube-apiserver",
    "--kube-token",
    "-s",
)
# Options that may stand before the verb, each with its value as a word of its own.
_TAKE_A_VALUE = frozenset({"-n", "--namespace", "--request-timeout", "--cache-dir", "-v"})
_INTO_PODS = frozenset({"attach", "cp", "debug", "exec", "port-forward", "proxy", "rsh", "rsync"})
_ON_DISK = frozenset(
    {"config", "edit", "kustomize", "plugin", "pull", "push", "package", "registry"}
)


def kind_of_command(arguments: Mapping[str, object]) -> CommandKind:
    """What the arguments of `command` or `shell` come to."""
    if arguments.get("creates") or arguments.get("removes"):
        return CommandKind.OTHER
    argv = arguments.get("argv")
    if isinstance(argv, list | tuple) and argv:
        return _kind_of_words([str(word) for word in argv])
    text = str(arguments.get("_raw_params") or arguments.get("cmd") or "")
    if not arguments.get("_uses_shell"):
        return _kind_of_words(_split(text))
    return _kind_of_line(text)


def _kind_of_line(text: str) -> CommandKind:
    text = text.replace("\\\n", " ").strip()
    bare = _HARMLESS.sub(" ", _without_quoted(text))
    if _UNREADABLE.search(bare) or re.search(r"`|\$\(", text):
        return CommandKind.OTHER
    harmless = re.sub(r"\d?>&\d|\d?&?>\s*/dev/null", " ", text)
    kinds = {_kind_of_words(words) for words in _commands_in(harmless)}
    for kind in (CommandKind.OTHER, CommandKind.WAITING):
        if kind in kinds:
            return kind
    return CommandKind.OF_CLUSTER if kinds else CommandKind.OTHER


def _commands_in(text: str) -> list[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;()<>")
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _ENDS_OF_COMMANDS:
                commands.append([])
            elif set(word) <= set("|&;()<>"):
                return [["unreadable"]]
            else:
                commands[-1].append(word)
    except ValueError:
        return [["unreadable"]]
    return [words for words in commands if words]


def _kind_of_words(words: list[str]) -> CommandKind:
    if not words or _ASSIGNMENT.match(words[0]):
        return CommandKind.OTHER
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program in _FILTERS:
        return CommandKind.OF_CLUSTER
    if program not in _CLUSTER_PROGRAMS or any(_leads_elsewhere(word) for word in rest):
        return CommandKind.OTHER
    after = _from_verb_on(rest)
    if not after or after[0] in _INTO_PODS or after[0] in _ON_DISK:
        return CommandKind.OTHER
    if after[0] == "wait" or after[:2] == ["rollout", "status"]:
        return CommandKind.WAITING
    return CommandKind.OF_CLUSTER


def _from_verb_on(words: list[str]) -> list[str]:
    """The verb and what follows; nothing where an option before it may or may not take a value."""
    while words and words[0].startswith("-"):
        option, equals, _ = words[0].partition("=")
        if not equals and option not in _TAKE_A_VALUE:
            return []
        words = words[1:] if equals else words[2:]
    return words


def _leads_elsewhere(word: str) -> bool:
    return word.partition("=")[0] in _ELSEWHERE or re.match(r"-s\S", word) is not None


def _without_quoted(text: str) -> str:
    return re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", " ", text)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []
