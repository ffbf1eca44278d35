"""The words of a test: a subject is tested by checks, each has cases, and a case finds problems."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.rbac import Right
from rolecall_dev.staging import SeenRequest, StateDifference


@dataclass(frozen=True, slots=True)
class Older:
    """The project at another revision, and the sample that it has there."""

    revision: str
    project: Path
    sample: CrSample


@dataclass(frozen=True, slots=True)
class Subject:
    """A CR to test with, and what becomes of it when nothing disturbs."""

    sample: CrSample
    undisturbed: Undisturbed
    schema: Json  # of the CR's spec; empty where the CRD has none
    older: Older | None = None
    granted: frozenset[Right] = frozenset()  # by config/rbac; empty where the project has none


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try; `params` say all of it, so that it can be tried again from a file."""

    check: str
    subject: str  # as `CrSample` is written
    reported: str  # "killed after write 3"
    params: Json
    worth: float = 1.0  # the higher the sooner; what such a case finds for each second it takes
    is_alone: bool = (
        False  # touches what others need: the engine, or requests outside of its namespace
    )

    @property
    def name(self) -> str:
        return f"{self.subject}: {self.check}: {self.reported}"


@dataclass(frozen=True, slots=True)
class CaseProblem:
    """What a case found, before it was tried again."""

    reported: str
    expected: str
    found: str
    remedy: str = ""  # what to change, in one sentence
    requests: tuple[str, ...] = ()
    place: str = ""
    case: Case | None = None  # a smaller case that shows it as well
    alike: str = ""  # problems with the same text here have one cause
    differences: tuple[str, ...] = ()  # each, where `found` shows only the first ones

    @property
    def signature(self) -> str:
        return self.alike or self.found

    @property
    def lines(self) -> tuple[str, ...]:
        """Each thing that was found."""
        return self.differences or tuple(self.found.splitlines())


@dataclass(frozen=True, slots=True)
class OperatorCheck:
    name: str
    summary: str
    cases: Callable[[Subject], Sequence[Case]]
    run: Callable[..., Awaitable[list[CaseProblem]]]  # of a bench, a subject and a case


_MOST_SHOWN = 12
_AROUND = 4


def shown_differences(found: Sequence[StateDifference]) -> str:
    """As lines; of very many only the first."""
    lines = [str(each) for each in found[:_MOST_SHOWN]]
    if len(found) > _MOST_SHOWN:
        lines.append(f"and {len(found) - _MOST_SHOWN} more")
    return "\n".join(lines)


def around(requests: Sequence[SeenRequest], number: int | None) -> tuple[str, ...]:
    """The requests beside one of them, or the last ones."""
    if number is None:
        return tuple(map(str, requests[-2 * _AROUND :]))
    first = max(0, number - _AROUND)
    return tuple(map(str, requests[first : number + _AROUND + 1]))


@dataclass(slots=True)
class Reported:
    """What cases have to say beside problems; the same text once."""

    notes: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def cannot_prove(self, text: str) -> None:
        if text not in self.unproved:
            self.unproved.append(text)


# Files that hold one case, so that it can be tried again: by `rolecall test --replay FILE`.

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Replay:
    """The sample's file, which CR of it, and the case."""

    sample: str
    case: Case

    def write(self, folder: Path, number: int) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        # Results of one test belong into no commit.
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        words = _NOT_IN_NAMES.sub("-", f"{self.case.check}-{self.case.reported}".lower())
        path = folder / f"{number:02}-{words[:_LONGEST].strip('-')}.json"
        document = {"sample": self.sample, "case": asdict(self.case)}
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def read_replay(path: Path) -> Replay:
    try:
        document: Json = json.loads(path.read_text(encoding="utf-8"))
        return Replay(str(document["sample"]), Case(**document["case"]))
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: not a case that can be replayed: {error}",
            hint="`rolecall test` writes one for each finding, and names it",
        ) from error
