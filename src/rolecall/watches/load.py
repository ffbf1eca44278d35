"""Loads watches.yaml: every entry checked, and every fault of the file reported at once.

Steps, as in the Go operator: read, splice the environment into the text, decode, apply defaults and
overrides, locate roles and playbooks, check. It stops at the first fault; here each step goes on for as
long as what follows still makes sense. Environment and working directory are handed in, so that the
result depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rolecall.documents import MapList, Report, expand, read_maps, read_text
from rolecall.errors import Problem, ProblemsError
from rolecall.gvk import Gvk
from rolecall.watches.entry import read_entry
from rolecall.watches.extension_keys import ExtensionKeys
from rolecall.watches.model import Watch
from rolecall.watches.overrides import EntryContext, WatchDefaults

_NAME_IT = "name the file with `--watches-file`, or start in the project's folder"
_LIST = MapList(
    entry="`version`, `kind`, `role`",
    first="version",
    empty="watches nothing",
    wanted="`group`, `version`, `kind`, `role`",
)


def load_watches(
    file: Path,
    environment: Mapping[str, str],
    defaults: WatchDefaults,
    cwd: Path,
    extensions: Sequence[type[ExtensionKeys]],
    *,
    is_image_elsewhere: bool = False,
) -> tuple[list[Watch], list[Problem]]:
    """The watches and the warnings; raises `ProblemsError` with all problems and warnings.

    `extensions`: the keys of those that are loaded, see `rolecall.extending.watch_keys`.
    `is_image_elsewhere`: an absolute path is one of the image, whose files lie in the project here.
    """
    report = Report(str(file))
    text = read_text(cwd / file, report, hint=_NAME_IT)
    watches = []
    if text is not None:
        expanded = expand(text, environment)
        report.located_in(expanded)
        project = (cwd / file).parent
        context = EntryContext(environment, defaults, cwd, project, is_image_elsewhere)
        watches = [
            read_entry(node, context, extensions, report)
            for node in read_maps(expanded.text, report, _LIST)
        ]
    _check_duplicates(watches, report)
    found = report.in_order()
    if report.has_errors:
        raise ProblemsError(found)
    return watches, found


def _check_duplicates(watches: list[Watch], report: Report) -> None:
    first_of: dict[Gvk, Watch] = {}
    for watch in watches:
        first = first_of.setdefault(watch.gvk, watch)
        if first is not watch and watch.gvk.version and watch.gvk.kind:
            report.error(
                watch.line, f"duplicate GVK: {watch.gvk} is already watched on line {first.line}"
            )
