"""One request that passed the proxy, and what it did to the world.

Whether a write changed anything is not asked of the program that made it: modules send a patch on every
run and say `changed: false`, others say `changed` and change nothing. It is the object's version before
and after that tells.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from rolecall.json_object import as_map
from rolecall.proxy import RequestInfo

WRITING_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class RequestMark:
    """Which request of a run: the n-th of its kind. The namespace is left out, so it fits any case."""

    method: str
    path: str
    occurrence: int = 1

    def __str__(self) -> str:
        again = f" (number {self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.method} {self.path}{again}"


@dataclass(slots=True)
class SeenRequest:
    """Noted when it comes, completed when it is answered."""

    number: int
    at_s: float
    mark: RequestMark
    info: RequestInfo
    query: str
    is_play: bool  # the engine's own requests pass as well
    body: bytes = b""
    code: int = 0  # 0: not answered, or by breaking off
    fault: str = ""  # what was answered instead of the API server's answer
    has_effect: bool | None = None  # of a write; None: not known
    changed: tuple[str, ...] = field(
        default_factory=tuple
    )  # paths, with the values before and after

    @property
    def is_write(self) -> bool:
        return self.info.verb in WRITING_VERBS and "dryRun=" not in self.query

    @property
    def has_created(self) -> bool:
        """Whether an object came to be by it."""
        return self.is_write and self.code == 201

    @property
    def body_name(self) -> str:
        """The name that stands in the body: a create has none in its path."""
        try:
            return str(as_map(as_map(json.loads(self.body)).get("metadata")).get("name") or "")
        except (ValueError, RecursionError):
            return ""

    @property
    def resource_name(self) -> str:
        """`deployments.apps/web`, as kubectl would have it."""
        info = self.info
        resource = f"{info.resource}.{info.group}" if info.group else info.resource
        named = f"{resource}/{info.name}" if info.name else resource
        return f"{named}/{info.subresource}" if info.subresource else named

    def __str__(self) -> str:
        who = "" if self.is_play else "engine: "
        said = f" -> {self.code}" if self.code else " -> no answer"
        effect = " (changed nothing)" if self.is_write and self.has_effect is False else ""
        fault = f" [{self.fault}]" if self.fault else ""
        what = self.resource_name if self.info.is_resource else self.info.path
        return f"{who}{self.info.verb} {what}{said}{effect}{fault}"
