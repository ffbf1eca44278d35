"""`handlers` and `parallel` in watches.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.watches import EntryContext, ExtensionKeys


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
        return cls(tuple(files), is_parallel)

    @property
    def replaces_play(self) -> bool:
        return bool(self.files)

    @property
    def python_files(self) -> tuple[Path, ...]:
        return self.files
