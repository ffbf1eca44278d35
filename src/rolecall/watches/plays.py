"""Finds the play that a map of watches.yaml names, or reports where it was looked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rolecall.documents import Fields, unset_names
from rolecall.watches.locate import find_role, playbook_path, role_candidates
from rolecall.watches.look import is_file, is_folder, is_there
from rolecall.watches.overrides import EntryContext
from rolecall.watches.play import Play


class AddProblem(Protocol):
    """How a fault is reported: as an error or as a warning."""

    def __call__(
        self, line: int | None, what: str, *, details: Sequence[str] = (), hint: str = ""
    ) -> None: ...


def read_play(fields: Fields, context: EntryContext, add: AddProblem, warn: AddProblem) -> Play:
    """The play that a map names, found or reported as missing; the playbook wins if both are there."""
    playbook, role = (_here(fields.text(name), context) for name in ("playbook", "role"))
    if playbook:
        if role:
            warn(fields.line_of("role"), "`role` has no effect next to `playbook`")
        return _find_playbook(playbook, fields.line_of("playbook"), context, add)
    if not role:
        add(fields.line, "must specify Role or Playbook", hint="add `role:` with a role's name")
        return Play(context.cwd, is_role=True)
    found = find_role(role, context.environment, context.cwd, context.project)
    return found or _missing_role(role, fields.line_of("role"), context, add)


def _here(value: str, context: EntryContext) -> str:
    """The same file in the project, for an absolute path of an image that is not this machine."""
    path = Path(value)
    if not context.is_image_elsewhere or not path.is_absolute() or is_there(path):
        return value
    inside = [context.project.joinpath(*path.parts[at:]) for at in range(1, len(path.parts) - 1)]
    return str(next((each for each in inside if is_there(each)), value))


def _find_playbook(value: str, line: int, context: EntryContext, add: AddProblem) -> Play:
    path = playbook_path(value, context.cwd)
    if not is_file(path):
        what_it_is = [f"{path} is a folder"] if is_folder(path) else []
        add(
            line,
            f"playbook: {path} was not found",
            details=[*what_it_is, *_unset(value)],
            hint=f"create it, or correct `playbook:` on line {line}",
        )
    return Play(path, is_role=False)


def _missing_role(role: str, line: int, context: EntryContext, add: AddProblem) -> Play:
    candidates = role_candidates(role, context.environment, context.cwd, context.project)
    looked_in = ", ".join(candidate.shown(context.cwd) for candidate in candidates)
    details = [f"looked in: {looked_in}", *_unset(role)]
    details += [
        f"{it.shown(context.cwd)} is not a folder" for it in candidates if is_there(it.path)
    ]
    add(
        line,
        f"role: {role} was not found",
        details=details,
        hint=f"create its `tasks/main.yml` there, or correct `role:` on line {line}",
    )
    return Play(candidates[-1].path, is_role=True)


def _unset(value: str) -> list[str]:
    return [f"{name} is not set in the environment" for name in unset_names(value)]
