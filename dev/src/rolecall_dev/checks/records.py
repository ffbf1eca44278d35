"""Keys of extensions against the rest of a project: arguments of plays, and kinds that exist.

`prune` together with `--tags` deletes nothing, and a misspelled kind changes nothing: users would
notice both too late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rolecall.json_object import Json
from rolecall.watches import ExtensionKeys, Watch
from rolecall_dev.checks.crds import Crd
from rolecall_dev.checks.nearest import nearest
from rolecall_dev.sources import KUBERNETES_KINDS, Findings, containers_of

_FLAG = "--ansible-args"


def check_records(
    watches: Sequence[Watch], crds: Sequence[Crd], cwd: Path, file: str, findings: Findings
) -> None:
    """Report keys that have no effect."""
    first: dict[str, tuple[Watch, ExtensionKeys]] = {}
    for watch in watches:
        for asked in watch.of_extensions:
            first.setdefault(asked.keys[0].name, (watch, asked))
            _check_kinds(watch, asked, (crds, file), findings)
    for watch, asked in first.values():
        _check_arguments(watch, asked, file, cwd, findings)


def _check_arguments(
    watch: Watch, asked: ExtensionKeys, file: str, cwd: Path, findings: Findings
) -> None:
    key = asked.keys[0].name
    for document, number, container in containers_of(cwd):
        for option, place in _stopping_arguments(container, asked):
            findings.error(
                *document.place("spec", "template", "spec", "containers", number, "args", place),
                f"`{option}` in `{_FLAG}` makes runs do a part of what they do, so `{key}`"
                f" has no effect for {watch.gvk.kind} ({file}:{watch.line})",
                hint=f"remove `{option}`, or `{key}` from {file}",
            )


def _stopping_arguments(container: Json, asked: ExtensionKeys) -> Iterator[tuple[str, int]]:
    """Options of ansible-playbook among a container's arguments, with their places."""
    words = container.get("args")
    words = words if isinstance(words, list) else []
    for place, word in enumerate(map(str, words)):
        name, equals, value = word.partition("=")
        if name != _FLAG:
            continue
        where = place if equals or place + 1 == len(words) else place + 1
        if option := asked.stopped_by(value if equals else str(words[where])):
            yield option, where


def _check_kinds(
    watch: Watch, asked: ExtensionKeys, known_by: tuple[Sequence[Crd], str], findings: Findings
) -> None:
    """A group that is neither Kubernetes' own nor the project's may be installed by others."""
    crds, file = known_by
    for gvk in sorted(asked.named_kinds):
        own = {str(crd.names.get("kind")) for crd in crds if crd.spec.get("group") == gvk.group}
        kinds = set(KUBERNETES_KINDS.get(gvk.group, ())) | own
        if kinds and gvk.kind not in kinds:
            close = nearest(gvk.kind, kinds)
            findings.error(
                file,
                watch.line,
                f"`{asked.keys[0].name}` of {watch.gvk.kind} names kind `{gvk.kind}`, which"
                f" `{gvk.api_version}` does not have",
                hint=f"did you mean `{close}`?" if close else "correct the kind",
            )
