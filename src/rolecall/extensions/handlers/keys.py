"""`handlers` and `parallel` in watches.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import yaml

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.gvk import Gvk
from rolecall.handler_files import REVIEWING, KnownKind, KopfHandler, handler_files, read_handlers
from rolecall.watches import EntryContext, ExtensionKeys
from rolecall.webhooks import Webhook


@dataclass(frozen=True, slots=True)
class HandlersKeys(ExtensionKeys):
    """Files of kopf handlers, for the CRs of the entry."""

    keys = (
        YamlKey(
            "handlers",
            Form.TEXT_OR_TEXTS,
            "",
            "files or packages of kopf handlers, relative to the working directory, beside `role` or in"
            " place of it",
            is_ours=True,
        ),
        YamlKey(
            "parallel",
            Form.TRUTH,
            "false",
            "let handlers act while a run of the same object is in flight",
            is_ours=True,
        ),
    )

    files: tuple[Path, ...] = ()
    is_parallel: bool = False
    # Those that the API server asks, as the files have them when the engine starts.
    reviewing: tuple[KopfHandler, ...] = ()

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:
        node = fields.node_of("handlers")
        is_parallel = bool(fields.truth("parallel"))
        if node is None:
            if is_parallel:
                report.warn(
                    fields.line_of("parallel"), "`parallel` has no effect without `handlers`"
                )
            return None
        is_text = isinstance(node, yaml.ScalarNode)
        said = [fields.text("handlers")] if is_text else fields.texts("handlers")
        line = fields.line_of("handlers")
        files = []
        for name in said:
            path = context.cwd / name
            files.append(path)
            if not (path.is_file() or (path / "__init__.py").is_file()):
                is_folder = path.is_dir()
                what = "is a folder without `__init__.py`" if is_folder else "was not found"
                report.error(
                    line,
                    f"handlers: {path} {what}",
                    hint=f"create it, or correct `handlers:` on line {line}",
                )
        if not files:
            report.error(line, "`handlers` names no file", hint="name one, or remove the key")
        reviewing = tuple(_reviewing(files))
        _refuse_two_answers(fields, reviewing, report)
        return cls(tuple(files), is_parallel, reviewing)

    @property
    def replaces_play(self) -> bool:
        return bool(self.files)

    @property
    def python_files(self) -> tuple[Path, ...]:
        return self.files

    def as_now(self) -> Self:
        """With the handlers that the files have by now."""
        return replace(self, reviewing=tuple(_reviewing(self.files)))

    def webhooks(self, gvk: Gvk) -> Iterator[Webhook]:
        """One for each of `validate` and `mutate` that a handler of the kind answers."""
        of_kind = [
            each for each in self.reviewing if each.kind and each.kind.matches(KnownKind(gvk))
        ]
        for verb in REVIEWING:
            asked = [each for each in of_kind if each.decorator == verb]
            if not asked:
                continue
            changing = ("CREATE", "UPDATE") if verb == "mutate" else ("CREATE", "UPDATE", "DELETE")
            operations = [each.operations or changing for each in asked]
            yield Webhook(
                is_mutating=verb == "mutate",
                group=gvk.group,
                version=gvk.version,
                kind=gvk.kind,
                operations=tuple(dict.fromkeys(name for names in operations for name in names)),
                subresources=tuple(
                    dict.fromkeys(filter(None, (each.subresource for each in asked)))
                ),
                failure_policy="Ignore" if all(each.ignores_failures for each in asked) else "Fail",
            )


def _reviewing(files: Sequence[Path]) -> Iterator[KopfHandler]:
    for file in handler_files([each for each in files if each.exists()]):
        yield from (each for each in read_handlers(file).handlers if each.decorator in REVIEWING)


def _refuse_two_answers(fields: Fields, reviewing: Sequence[KopfHandler], report: Report) -> None:
    for verb in REVIEWING:
        handler = next((each for each in reviewing if each.decorator == verb), None)
        answered = fields.data(verb) if fields.submap(verb) is not None else {}
        if handler is not None and answered.keys() & {"role", "playbook"}:
            report.error(
                fields.line_of(verb),
                f"`{verb}` names a play, and handler `{handler.id}` ({handler.file.name}:"
                f"{handler.line}) answers the same question",
                hint="keep one of the two",
            )
