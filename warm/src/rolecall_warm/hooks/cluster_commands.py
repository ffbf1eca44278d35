"""Whether a `command` or `shell` task does nothing but speak with the cluster of the run.

A plan runs such a task for real: kubectl, oc and helm find the kubeconfig of the run, and so its world.
Programs, verbs and options come from an allow-list. A line of a shell is a list of such commands,
joined by `;`, `&&` or `||`, and nothing else of what a shell can do: no variable, pipe, substitution,
here-document or pattern, and no redirection but to and from `/dev/null` or between output and errors.
Whatever is not listed is unknown, and is not run: an option may name another cluster, a file to write,
or a program to start, and an unknown verb is a plugin.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class CommandKind(Enum):
    OF_CLUSTER = "of the cluster"
    WAITING = "waiting"  # and reads, no more
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Judgement:
    kind: CommandKind
    why: str = ""  # it is not of the cluster


@dataclass(frozen=True, slots=True)
class _Verb:
    """What may follow a verb. Options are listed with their dashes."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    # What the first word after the verb must be, if there is one; empty: anything.
    first: frozenset[str] = frozenset()
    has_chart: bool = False  # the second word names a chart


_FOLDERS = frozenset({"", "/bin/", "/usr/bin/", "/usr/local/bin/"})
_SILENT = frozenset({":", "echo", "false", "true"})
_ENDS_OF_COMMANDS = frozenset({"||", "&&", ";"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
# Outside of quotes: all that a shell may read as something but a word.
_OF_A_SHELL = re.compile(r"[|&<>(){}*?\[\]!#~\\\n\r]")
# Redirections that act on nothing, each a word of its own; quotes are taken whole, and left alone.
_QUOTED = r"'[^']*'|\"(?:\\.|[^\"\\])*\""
_DROPPED = re.compile(
    rf"({_QUOTED})"
    r"|(?<![^ \t\n;&|])(?<!\\\n)(?:[12]?>>?[ \t]*/dev/null|0?<[ \t]*/dev/null|[12]?>&[12])"
    r"(?=[ \t\n;&|]|$)"
)
_NAMES_OF_THEM = {
    "|": "a pipe",
    "&": "a job in the background",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "\n": "several lines",
    "\r": "several lines",
}


def _verb(flags: str = "", valued: str = "", first: str = "", *, has_chart: bool = False) -> _Verb:
    return _Verb(
        frozenset(flags.split()), frozenset(valued.split()), frozenset(first.split()), has_chart
    )


_EVERYWHERE = _verb("", "-n --namespace --request-timeout -v --v")
_OUT = "-o --output --template"
_CHOICE = "-l --selector --field-selector"
_FILES = "-f --filename"
_WRITE = f"{_OUT} {_FILES} --field-manager"
_CREATED = (
    "clusterrole clusterrolebinding cm configmap cronjob deploy deployment ing ingress job namespace ns"
    " pc pdb poddisruptionbudget priorityclass quota resourcequota role rolebinding sa secret service"
    " serviceaccount svc"
)
_KUBECTL: Mapping[str, _Verb] = {
    "annotate": _verb("--overwrite --all -A --all-namespaces -R --list", f"{_WRITE} {_CHOICE}"),
    "api-resources": _verb("--namespaced --no-headers", f"{_OUT} --api-group --verbs --sort-by"),
    "api-versions": _verb(),
    "apply": _verb(
        "-R --recursive --server-side --force-conflicts --overwrite",
        f"{_WRITE} -l --selector",
        "view-last-applied",
    ),
    "auth": _verb("-q --quiet --list -A --all-namespaces", "--subresource", "can-i"),
    "autoscale": _verb("", f"{_WRITE} --min --max --cpu-percent --name"),
    "cordon": _verb("", "-l --selector"),
    "create": _verb(
        "-R --recursive --save-config --append-hash",
        f"{_WRITE} -l --selector --from --from-literal --from-file --from-env-file --type --image -r"
        " --replicas --port --schedule --restart --verb --resource --resource-name --role"
        " --clusterrole --serviceaccount --group --tcp --clusterip --node-port --external-name"
        " --docker-server --docker-username --docker-password --docker-email --cert --key --hard"
        " --scopes --value --description --preemption-policy --rule --class --default-backend"
        " --annotation --min-available --max-unavailable --aggregation-rule --non-resource-url",
        _CREATED,
    ),
    "delete": _verb(
        "-R --recursive -A --all-namespaces --all --ignore-not-found --now --force",
        f"{_OUT} {_FILES} {_CHOICE} --grace-period",
    ),
    "describe": _verb("-R --recursive -A --all-namespaces", f"{_FILES} -l --selector --chunk-size"),
    "explain": _verb("--recursive", "--api-version -o --output"),
    "expose": _verb(
        "",
        f"{_WRITE} -l --selector --name --port --target-port --type --protocol --labels"
        " --cluster-ip --external-ip --session-affinity",
    ),
    "get": _verb(
        "-A --all-namespaces -R --recursive --ignore-not-found --no-headers --show-labels --show-kind"
        " --show-managed-fields --server-print",
        f"{_OUT} {_FILES} {_CHOICE} -L --label-columns --sort-by --chunk-size --subresource --raw",
    ),
    "label": _verb("--overwrite --all -A --all-namespaces -R --list", f"{_WRITE} {_CHOICE}"),
    "logs": _verb(
        "--all-containers --previous -p --timestamps --prefix --ignore-errors",
        "-c --container --tail --since --since-time --limit-bytes -l --selector",
    ),
    "patch": _verb("", f"{_WRITE} -p --patch --patch-file --type --subresource"),
    "replace": _verb("-R --recursive --save-config", f"{_WRITE} --subresource"),
    "rollout": _verb(
        "-R --recursive",
        f"{_WRITE} -l --selector --to-revision --revision",
        "history pause restart resume undo",
    ),
    "scale": _verb(
        "--all -R --recursive",
        f"{_WRITE} -l --selector --replicas --current-replicas --resource-version --subresource",
    ),
    "set": _verb(
        "--all --list --resolve --overwrite -R --recursive",
        f"{_WRITE} -l --selector -e --env --from --prefix --keys -c --containers --limits --requests"
        " --serviceaccount --group",
        "env image resources selector serviceaccount sa subject",
    ),
    "taint": _verb("--overwrite --all", f"{_OUT} -l --selector --field-manager"),
    "uncordon": _verb("", "-l --selector"),
    "version": _verb("--client", "-o --output"),
}
_VALUES = "-f --values --set --set-string --set-json --set-literal --set-file"
_RELEASE = (
    "-i --install --create-namespace --reset-values --reuse-values --reset-then-reuse-values"
    " --no-hooks --skip-crds --force --debug --hide-notes --render-subchart-notes"
    " --disable-openapi-validation --skip-schema-validation --replace"
)
_HELM: Mapping[str, _Verb] = {
    "get": _verb(
        "-a --all", "-o --output --revision --template", "all hooks manifest metadata notes values"
    ),
    "history": _verb("", "-o --output --max"),
    "install": _verb(_RELEASE, f"{_VALUES} -o --output --description --labels -l", has_chart=True),
    "list": _verb(
        "-a --all -A --all-namespaces -q --short -d --date -r --reverse --deployed --failed"
        " --pending --superseded --uninstalled --uninstalling --no-headers",
        "-o --output --filter -m --max --offset -l --selector --time-format",
    ),
    "rollback": _verb("--no-hooks --force --debug", "--history-max"),
    "status": _verb("--show-desc --show-resources", "-o --output --revision"),
    "uninstall": _verb("--no-hooks --keep-history --ignore-not-found --debug", "--description"),
    "upgrade": _verb(
        _RELEASE,
        f"{_VALUES} -o --output --description --labels -l --history-max",
        has_chart=True,
    ),
    "version": _verb("--short", "--template"),
}
_HELM_ALIASES = {"ls": "list", "delete": "uninstall", "del": "uninstall", "un": "uninstall"}
_PROGRAMS = {"kubectl": _KUBECTL, "oc": _KUBECTL, "helm": _HELM}
# Of any verb; they take a value only after `=`.
_OPTIONAL = frozenset(
    {"--allow-missing-template-keys", "--cascade", "--dry-run", "--show-events", "--validate"}
)
_WAITS = frozenset(
    [
        "--wait",
        "--wait-for-jobs",
        "--atomic",
        "--rollback-on-failure",
        "--timeout",
        "-w",
        "--watch",
        "--watch-only",
        "-F",
        "--follow",
    ]
)
_OF_FILES = frozenset({"-f", "--filename", "--values", "--patch-file", "--from-file", "--set-file"})


def judge_command(arguments: Mapping[str, object]) -> Judgement:
    """What the arguments of `command` or `shell` come to."""
    for name in ("creates", "removes", "executable"):
        if arguments.get(name):
            return _other(f"`{name}`")
    argv = arguments.get("argv")
    if isinstance(argv, list | tuple) and argv:
        words = [str(word) for word in argv]
        return _dollar(" ".join(words)) or _judge_words(words)
    text = str(arguments.get("_raw_params") or arguments.get("cmd") or "")
    if found := _dollar(text):
        return found
    if arguments.get("_uses_shell"):
        return _judge_line(text)
    try:
        return _judge_words(shlex.split(text))
    except ValueError:
        return _other("quotes that do not end")


def _dollar(text: str) -> Judgement | None:
    # Also without a shell: the module expands variables by itself.
    if "$" in text:
        return _other("a `$`")
    return _other("a command substitution") if "`" in text else None


def _judge_line(text: str) -> Judgement:
    text = _DROPPED.sub(lambda found: found[1] or " ", text)
    text = text.replace("\\\n", " ").strip()
    bare = re.sub(_QUOTED, " ", text)
    joined = re.sub(r"\|\||&&", ";", bare)
    if found := _OF_A_SHELL.search(joined):
        sign = found.group()
        name = _NAMES_OF_THEM.get(sign, f"a `{sign}` of a shell")
        return _other("a here-document" if "<<" in bare else name)
    commands = _commands_in(text)
    if len(commands) != joined.count(";") + 1:
        return _other("quotes that do not end, or around a `;`, `&&` or `||`")
    return _judge_all([(words[0], _judge_words(words)) for words in commands if words])


def _commands_in(text: str) -> list[list[str]]:
    """The words of each command; nothing where quotes do not end."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split, lexer.commenters = True, ""
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _ENDS_OF_COMMANDS:
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:
        return []
    return commands


def _judge_all(judged: Sequence[tuple[str, Judgement]]) -> Judgement:
    if found := next((one for _, one in judged if one.kind is CommandKind.OTHER), None):
        return found
    telling = [one for program, one in judged if program not in _SILENT]
    waiting = [one for one in telling if one.kind is CommandKind.WAITING]
    if not waiting:
        return Judgement(CommandKind.OF_CLUSTER) if judged else _other("no command")
    return waiting[0] if waiting == telling else _other("it waits between other commands")


def _judge_words(words: Sequence[str]) -> Judgement:
    if not words:
        return _other("no command")
    if _ASSIGNMENT.match(words[0]):
        return _other("a variable of the environment")
    folder, slash, program = words[0].rpartition("/")
    if folder + slash not in _FOLDERS:
        return _other(f"the program `{words[0]}`")
    if program in _SILENT:
        return Judgement(CommandKind.OF_CLUSTER)
    if program not in _PROGRAMS:
        return _other(f"the program `{program}`")
    return _judge_verb(program, list(words[1:]))


def _judge_verb(program: str, words: list[str]) -> Judgement:
    before, words = _until_word(words)
    if not words:
        return _other(f"`{program}` without a verb that is known")
    name, rest = words[0], words[1:]
    name = _HELM_ALIASES.get(name, name) if program == "helm" else name
    if program != "helm" and (name == "wait" or (name == "rollout" and rest[:1] == ["status"])):
        return Judgement(CommandKind.WAITING, "it waits")
    verb = _PROGRAMS[program].get(name)
    if verb is None:
        return _other(f"`{program} {name}`")
    return _judge_rest(f"{program} {name}", verb, [*before, *rest])


def _until_word(words: list[str]) -> tuple[list[str], list[str]]:
    """Options that stand before the verb, and the rest; no rest where it is not clear."""
    before: list[str] = []
    while words and words[0].startswith("-"):
        option, equals, _ = words[0].partition("=")
        if option not in _EVERYWHERE.valued:
            return before, []
        taken = 1 if equals else 2  # what follows is judged with the other options
        before, words = [*before, *words[:taken]], words[taken:]
    return before, words


def _judge_rest(title: str, verb: _Verb, words: list[str]) -> Judgement:
    valued = verb.valued | _EVERYWHERE.valued
    positions: list[str] = []
    while words:
        word, words = words[0], words[1:]
        if not word.startswith("-") or word == "-":
            positions.append(word)
            continue
        option, equals, value = _taken_apart(word, valued)
        if option in valued and not equals:
            # No word that begins with a dash passes without a look at it.
            if not words or (words[0].startswith("-") and words[0] != "-"):
                return _other(f"the option `{option}` without a value")
            value, words = words[0], words[1:]
        if why := _why_not(title, verb, valued, (option, equals, value)):
            return _other(why)
    return _judge_positions(title, verb, positions)


def _taken_apart(word: str, valued: frozenset[str]) -> tuple[str, str, str]:
    option, equals, value = word.partition("=")
    if not word.startswith("--") and len(option) > 2 and word[:2] in valued:
        return word[:2], "=", word[2:].removeprefix("=")
    return option, equals, value


def _why_not(title: str, verb: _Verb, valued: frozenset[str], given: tuple[str, str, str]) -> str:
    option, equals, value = given
    if option in _WAITS:
        is_off = value.lower() in ("false", "0s", "0")
        return "" if is_off else f"it waits (`{option}`)"
    is_flag = option in verb.flags and (not equals or value.lower() in ("true", "false"))
    if not (is_flag or option in _OPTIONAL or option in valued):
        return f"the option `{option}` of `{title}`"
    is_away = option in _OF_FILES and "://" in value
    return f"a file from elsewhere, `{option} {value}`" if is_away else ""


def _judge_positions(title: str, verb: _Verb, positions: list[str]) -> Judgement:
    if verb.first and positions and positions[0] not in verb.first:
        return _other(f"`{title} {positions[0]}`")
    if verb.has_chart and not all(each.startswith((".", "/")) for each in positions[1:]):
        return _other("a chart that is not a path: `helm` would download it")
    return Judgement(CommandKind.OF_CLUSTER)


def _other(why: str) -> Judgement:
    return Judgement(CommandKind.OTHER, why)
