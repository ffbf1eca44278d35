"""Which keys of a CR's spec its play does not get, as they would override what the role sets itself.

An extra var overrides all variables of a role. For fields that the CRD declares that is what the Go
operator promises. A key that it does not declare can be in a spec only where the schema is open
(`x-kubernetes-preserve-unknown-fields`); anyone who can create a CR then chooses it, and could point
a role at another namespace. Such a key is withheld where the play sets that name itself
(`own_names`), and stays in `_<group>_<kind>_spec`.

The schema is that of the API server's OpenAPI, which every account can read. Where it cannot be read,
all keys are passed, and the log says so. `specOverridesRole` on the watch passes them, too.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.log_fields import log_fields
from rolecall.runner.own_names import OwnNames
from rolecall.runner.params import snake_case
from rolecall.watches import Play, Watch

_NAMES_LAST_S = 5.0
_SCHEMA_LASTS_S = 60.0
_logger = logging.getLogger(__name__)


class SchemaApi(Protocol):
    """Reads under the engine's own credentials; `kube.Client` is the real one."""

    async def read_bytes(self, path: str, *, accept: str = "") -> bytes:
        """What is at a path; empty: nothing is there."""


@dataclass(frozen=True, slots=True)
class WithheldKeys:
    """Keys of a spec, each with the place where the play sets that name."""

    places: Mapping[str, str]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.places)

    @property
    def message(self) -> str:
        """For an Event; empty: nothing is withheld."""
        keys = ", ".join(f"`{key}` (set in {place})" for key, place in sorted(self.places.items()))
        return keys and (
            "Not passed to the play, since the CRD does not declare it and the role sets it: "
            f"{keys}. Declare it in the CRD, or set `specOverridesRole: true` on the watch"
        )


NOTHING_WITHHELD = WithheldKeys({})


class SpecKeys:
    """Of all watches of an engine, or of a command."""

    def __init__(self, api: SchemaApi, clock: Clock) -> None:
        self._api, self._clock = api, clock
        self._names: dict[Play, tuple[float, OwnNames]] = {}
        self._declared: dict[Gvk, tuple[float, frozenset[str]]] = {}
        self._unread: set[Gvk] = set()  # logged

    def forget_kinds(self) -> None:
        """A kind came, changed or went."""
        self._declared.clear()

    async def withheld(self, watch: Watch, cr: Json, *, is_finalizer: bool) -> WithheldKeys:
        spec = cr.get("spec")
        if watch.spec_overrides_role or not isinstance(spec, dict) or not spec:
            return NOTHING_WITHHELD
        own = await self._names_of(_play_of(watch, is_finalizer=is_finalizer))
        of_spec = {key: snake_case(key) if watch.snake_case_parameters else key for key in spec}
        met = {key: place for key, name in of_spec.items() if (place := own.place_of(name))}
        declared = await self._declared_in(watch.gvk) if met else None
        if declared is None:
            return NOTHING_WITHHELD
        return WithheldKeys({key: met[key] for key in met if key not in declared})

    async def _names_of(self, play: Play) -> OwnNames:
        now = self._clock.monotonic()
        known = self._names.get(play)
        if known is None or now - known[0] > _NAMES_LAST_S:
            known = (now, await asyncio.to_thread(OwnNames, play))
            self._names[play] = known
        return known[1]

    async def _declared_in(self, gvk: Gvk) -> frozenset[str] | None:
        now = self._clock.monotonic()
        known = self._declared.get(gvk)
        if known is not None and now - known[0] <= _SCHEMA_LASTS_S:
            return known[1]
        path = f"apis/{gvk.group}" if gvk.group else "api"
        try:
            body = await self._api.read_bytes(f"/openapi/v3/{path}/{gvk.version}")
            declared = declared_in(json.loads(body), gvk) if body else None
            why = "" if declared is not None else "the API server publishes no schema of it"
        except (RolecallError, OSError, ValueError) as error:
            declared, why = None, str(error)
        if declared is None:
            self._report_unread(gvk, why)
            return None
        self._unread.discard(gvk)
        self._declared[gvk] = (now, declared)
        return declared

    def _report_unread(self, gvk: Gvk, why: str) -> None:
        if gvk in self._unread:
            return
        self._unread.add(gvk)
        _logger.warning(
            "the schema of a kind cannot be read, so keys of spec may override variables of its role",
            extra=log_fields(
                kind=str(gvk), why=why, hint="allow the operator to get `/openapi/v3/*`"
            ),
        )


def declared_in(document: Json, gvk: Gvk) -> frozenset[str] | None:
    """The keys of `spec` that an OpenAPI document declares for a kind; None: it has no such kind."""
    schemas = as_map(as_map(document.get("components")).get("schemas"))
    wanted = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    for schema in schemas.values():
        if wanted in (as_map(schema).get("x-kubernetes-group-version-kind") or ()):
            spec = as_map(as_map(as_map(schema).get("properties")).get("spec"))
            return frozenset(as_map(_resolved(spec, schemas).get("properties")))
    return None


def _resolved(schema: Json, schemas: Mapping[str, Any]) -> Json:
    """The schema itself where, as for built-in kinds, there is a reference to it."""
    (first, *_) = schema.get("allOf") or [schema]
    name = str(as_map(first).get("$ref", "")).rpartition("/")[2]
    return as_map(schemas.get(name)) if name else schema


def _play_of(watch: Watch, *, is_finalizer: bool) -> Play:
    its = watch.finalizer.play if is_finalizer and watch.finalizer is not None else None
    return its or watch.play
