"""The name of a kind: group, version, kind, spelled in the ways that users already know.

Every room speaks of kinds, so the word lives below all of them. Spelling matters: metrics, logs and
annotations of the Go operator carry these texts, and dashboards match on them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Gvk:
    """Group, version and kind. The core group is the empty text."""

    group: str
    version: str
    kind: str

    @classmethod
    def parse(cls, api_version: str, kind: str) -> Gvk:
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind)

    @property
    def api_version(self) -> str:
        """`group/version`, or only the version for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """`Kind.group`, or only the kind for the core group: how owner annotations spell it."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def __str__(self) -> str:
        """`group/version, Kind=Kind`: how metrics and logs spell it."""
        return f"{self.group}/{self.version}, Kind={self.kind}"
