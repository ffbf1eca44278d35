"""What an entry of watches.yaml says to an extension: the base of what each extension declares.

Commands for developers import no extension: what they have to know of its keys, they ask here.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from rolecall.documents import Fields, Report, YamlKey
from rolecall.gvk import Gvk
from rolecall.watches.overrides import EntryContext
from rolecall.watches.play import Play


@dataclass(frozen=True, slots=True)
class KeptThings:
    """What is kept in the operator's own namespace, and the rights that this takes."""

    resource: ClassVar[tuple[str, str]] = ("", "configmaps")

    what: str
    verbs: tuple[str, ...]
    otherwise: str  # what is lost without the rights


class ExtensionKeys:
    """A frozen dataclass for each extension with keys; an entry that asks for nothing has none."""

    keys: ClassVar[tuple[YamlKey, ...]]  # the first one names them in messages
    # Turns may need no run: runs note what they use, and lists at the start bring whole objects.
    has_optional_runs: ClassVar[bool] = False
    annotations: ClassVar[tuple[str, ...]] = ()  # of a CR: a change of one brings a turn
    purpose: ClassVar[str] = ""  # of the rights that `verbs_after` adds

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:
        """What the entry says; None: nothing is asked for."""
        raise NotImplementedError

    @property
    def replaces_play(self) -> bool:
        """Whether an entry needs neither role nor playbook beside them."""
        return False

    @property
    def python_files(self) -> tuple[Path, ...]:
        """Files of the project in Python that the engine starts in a process of their own."""
        return ()

    @property
    def reading_plays(self) -> tuple[Play, ...]:
        """Plays that run for no CR and only read."""
        return ()

    @property
    def named_kinds(self) -> frozenset[Gvk]:
        """Kinds that the keys name, and that should exist."""
        return frozenset()

    def kept_of(self, kind: str) -> KeptThings | None:  # noqa: ARG002 - for those that override it
        """What is kept of the CRs of a kind."""
        return None

    def stopped_by(self, ansible_args: str) -> str:  # noqa: ARG002 - as above
        """An option of ansible-playbook with which the keys have no effect; empty: there is none."""
        return ""

    def verbs_after(
        self,
        verbs: Set[str],  # noqa: ARG002 - as above
        resource: tuple[str, str],  # noqa: ARG002
        *,
        is_named: bool,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """What has to be allowed after a play that does `verbs` to a group's resource."""
        return ()


class MissingKeys(ExtensionKeys):
    """Stands for an extension that was deleted: an unknown key may be its, and is an error."""

    keys = ()

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> None:  # noqa: ARG003 - nothing is known
        return None
