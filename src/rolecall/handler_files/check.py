"""What is wrong with the handlers of a project, each with file and line and a way out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from rolecall.errors import Problem
from rolecall.handler_files.kinds import KnownKind
from rolecall.handler_files.read import REVIEWING, HandlerFile, KopfHandler, read_handlers

_HANDLING = frozenset(
    {
        *("create", "update", "delete", "resume", "field", "event"),
        *("timer", "daemon", "index", *REVIEWING),
    }
)
_OF_THE_PROCESS = frozenset({"startup", "cleanup"})
# What the operator does in place of kopf, and what to do instead.
_UNSUPPORTED = {
    "kopf.on.login": "the operator logs in, and handlers act through it: remove it",
    "kopf.on.probe": "the probes are the operator's: write a metric or a field of status instead",
    "kopf.run": "the operator starts the handlers: remove it, or guard it by `if __name__`",
    "kopf.operator": "the operator starts the handlers: remove it",
    "kopf.spawn_tasks": "the operator starts the handlers: remove it",
    "settings.peering": "the operator's Lease says which replica acts: remove it",
    "settings.admission": "the operator listens for the API server: remove it",
    "settings.persistence": "the operator chooses where kopf keeps its notes: remove it",
    "settings.scanning": "the operator says which namespaces are watched: remove it",
}


def handler_files(asked: Sequence[Path]) -> list[Path]:
    """The files that are read: those named, and all of a package."""
    found: list[Path] = []
    for path in asked:
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def check_handlers(asked: Mapping[Path, Sequence[KnownKind]], root: Path) -> list[Problem]:
    """Read files or packages, each with the kinds whose watches name it; what is wrong with them."""
    read: list[HandlerFile] = []
    problems: list[Problem] = []
    for path, kinds in asked.items():
        for file in handler_files([path]):
            found = read_handlers(file)
            read.append(found)
            problems += _problems_of(found, kinds, root)
    problems += _twins([handler for found in read for handler in found.handlers], root)
    if read and not any(found.handlers or found.fault for found in read):
        problems.append(
            Problem(
                _shown(read[0].file, root),
                None,
                "has no handler that can be seen: nothing will act",
                hint="put `@kopf.on.create(...)`, `@kopf.timer(...)` or another over a function",
                is_warning=True,
            )
        )
    return problems


def _problems_of(found: HandlerFile, kinds: Sequence[KnownKind], root: Path) -> Iterator[Problem]:
    file = _shown(found.file, root)
    if found.fault is not None:
        line, why = found.fault
        yield Problem(file, line, f"{why}, so no handler starts", hint="correct the line")
        return
    for line, module in found.imports:
        if not _is_there(module, found.file.parent, root):
            package = module.partition(".")[0]
            yield Problem(
                file,
                line,
                f"`{module}` is not installed here, so no handler starts",
                hint=f"add the package of `{package}` to `requirements.txt`, and install it",
            )
    for handler in found.handlers:
        yield from _of_handler(handler, kinds, file)
    for line, name in found.calls:
        if (instead := _unsupported(name)) is not None:
            yield Problem(file, line, f"`{name}` is not supported beside roles", hint=instead)
    for line in found.condition_lines:
        yield Problem(
            file,
            line,
            "writes `status.conditions`, which are the operator's",
            hint="write another field of status, such as `patch.status['reachable']`",
        )


def _of_handler(handler: KopfHandler, kinds: Sequence[KnownKind], file: str) -> Iterator[Problem]:
    name = f"kopf.on.{handler.decorator}"
    if name in _UNSUPPORTED:
        what = f"`{name}` is not supported beside roles"
        yield Problem(file, handler.line, what, hint=_UNSUPPORTED[name])
        return
    if handler.decorator not in _HANDLING | _OF_THE_PROCESS:
        yield Problem(file, handler.line, f"`{name}` is not supported beside roles")
        return
    if handler.decorator in _OF_THE_PROCESS:
        return
    watched = ", ".join(sorted({f"{kind.gvk.kind} ({kind.gvk.api_version})" for kind in kinds}))
    hint = f"the watches that name this file are of {watched}; add `handlers:` to the watch of its kind"
    if handler.is_of_all:
        yield Problem(file, handler.line, f"handler `{handler.id}` is for every kind", hint=hint)
    elif handler.kind is not None and not any(handler.kind.matches(kind) for kind in kinds):
        yield Problem(
            file,
            handler.line,
            f"handler `{handler.id}` is for `{handler.kind}`, which no watch with this file watches, so"
            " it would never run",
            hint=hint,
        )
    elif handler.decorator in REVIEWING and handler.kind is not None:
        meant = [kind.gvk for kind in kinds if handler.kind.matches(kind)]
        if not any(handler.kind.matches(KnownKind(gvk)) for gvk in meant):
            yield Problem(
                file,
                handler.line,
                f"handler `{handler.id}` names its kind as `{handler.kind}`, which is read before the"
                " cluster is, so it would never be asked",
                hint=f"name the kind: `{meant[0].kind}`",
            )


def _twins(handlers: Sequence[KopfHandler], root: Path) -> Iterator[Problem]:
    """Two functions with one id keep their progress in one place, so one may never run."""
    first_of: dict[tuple[str, str], KopfHandler] = {}
    for handler in handlers:
        first = first_of.setdefault((handler.id, str(handler.kind)), handler)
        if (first.file, first.function) != (handler.file, handler.function):
            place = f"{_shown(first.file, root)}:{first.line}"
            yield Problem(
                _shown(handler.file, root),
                handler.line,
                f"handler `{handler.id}` has the id of the one at {place}, so one may never run",
                hint="rename one function, or give it `id=`",
            )


def _unsupported(name: str) -> str | None:
    found = (why for each, why in _UNSUPPORTED.items() if f"{name}.".startswith(f"{each}."))
    return next(found, None)


def _is_there(module: str, folder: Path, root: Path) -> bool:
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top == "rolecall":
        return True
    for place in (folder, root):
        if (place / top).is_dir() or (place / f"{top}.py").is_file():
            return True
    try:
        return find_spec(top) is not None
    except (ImportError, ValueError):
        return False


def _shown(file: Path, root: Path) -> str:
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
