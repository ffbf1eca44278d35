"""What a flag of `rolecall run` is, and the base of what each extension with flags declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Self


class FlagKind(Enum):
    """How a flag's text is read; the value names it in help."""

    TEXT = "TEXT"
    PATH = "PATH"
    TRUTH = "true|false"
    WHOLE = "NUMBER"
    NUMBER = "DECIMAL"
    BYTES = "BYTES"
    DURATION = "DURATION"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. `default` is the value to type for the default behaviour; empty means none."""

    name: str
    kind: FlagKind
    default: str
    help: str
    choices: tuple[str, ...] = ()
    alias_of: str = ""  # deprecated: use that one
    is_ignored: bool = False  # accepted so that old command lines start, without effect

    @property
    def variable(self) -> str:
        """The environment variable that sets this flag where it was not typed."""
        return "ROLECALL_" + self.name.upper().replace("-", "_")


@dataclass(frozen=True, slots=True)
class FlagGroup:
    """Flags that one reads together."""

    title: str
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One value for each flag that is not an alias, and where the non-default ones came from."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]  # flag name -> `--flag` or `ROLECALL_FLAG`
    warnings: Sequence[str] = ()

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def is_set(self, name: str) -> bool:
        """Whether the user chose the value, as opposed to the default."""
        return name in self.origins


class ExtensionFlags:
    """A frozen dataclass for each extension with flags; its defaults are those of the flags."""

    group: ClassVar[FlagGroup]

    @property
    def division(self) -> str:
        """How it lets replicas divide the CRs: the flag, a slash, into how many parts; empty: not."""
        return ""

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        """What was chosen; raises `InputError`."""
        raise NotImplementedError
