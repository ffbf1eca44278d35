"""What a plan comes to: the objects that a run would create, change and delete, and by which task.

Each comes with its certainty:

- *exact*: the API server itself said what would be there;
- *approximate*: it judged what we made of a patch, or judged it in another namespace;
- *unknown*: it cannot be computed; from the first such thing on, what follows is unknown as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.plan.differences import FieldDifference, differences_of


def _as_it_is(value: Any) -> Any:
    return value


class Certainty(Enum):
    EXACT = "exact"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"


class PlannedChange(Enum):
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Where in the project something is done."""

    task: str = ""
    place: str = ""  # `roles/web/tasks/main.yml:12`

    def __str__(self) -> str:
        named = f"`{self.task}`" if self.task else ""
        return " ".join(part for part in (self.place, named) if part) or "outside of any task"


@dataclass(frozen=True, slots=True)
class PlannedObject:
    change: PlannedChange
    gvk: Gvk
    namespace: str
    name: str
    before: Json | None
    after: Json | None
    certainty: Certainty
    why: str = ""  # it is not exact
    tasks: tuple[TaskPlace, ...] = ()  # that write it, in order
    how: str = ""  # what an extension does after the run; empty: tasks do it
    is_name_made_up: bool = False  # by `generateName`: the run gets another one
    # Masks secret values that the play saw.
    hide: Callable[[Any], Any] = field(default=_as_it_is, compare=False, repr=False)

    @property
    def differences(self) -> list[FieldDifference]:
        """Fields that differ, for people: without secret values."""
        return [
            FieldDifference(row.path, self.hide(row.before), self.hide(row.after))
            for row in differences_of(self.before, self.after)
        ]

    @property
    def title(self) -> str:
        """`Deployment shop/web`."""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.gvk.kind} {place}"


@dataclass(frozen=True, slots=True)
class PlanNote:
    """Something that a run does and a plan does not."""

    kind: str  # `wait`, `left out`, `unknown`, `not shown`
    what: str
    at: TaskPlace


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """Of one run of one CR."""

    kind: str
    namespace: str
    name: str
    objects: tuple[PlannedObject, ...] = ()
    notes: tuple[PlanNote, ...] = ()
    failure: str = ""  # why the play did not come to its end, with file:line
    seconds: float = 0.0

    @property
    def title(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"

    @property
    def is_empty(self) -> bool:
        """Whether a run would change nothing in the cluster, as far as that is known."""
        return not self.objects

    @property
    def unknown(self) -> str:
        """Why it is not known what a run would change; empty: it is."""
        if self.failure:
            return self.failure
        unknown = [note for note in self.notes if note.kind == "unknown"]
        if unknown:
            more = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            return f"{unknown[0].what} ({unknown[0].at}){more}"
        hidden = (note.what for note in self.notes if note.kind == "not shown")
        return "" if self.objects else next(hidden, "")

    @property
    def is_sure(self) -> bool:
        return not self.unknown

    @property
    def differing_paths(self) -> list[str]:
        """`Deployment shop/web.spec.replicas`, one for each field, objects in order."""
        paths: list[str] = []
        for planned in self.objects:
            if planned.change is PlannedChange.CHANGE:
                paths += [f"{planned.title}{each.path}" for each in planned.differences]
            else:
                paths.append(f"{planned.title} ({planned.change.value})")
        return paths
