"""What a case left in the world, so that it can be compared with what another one left.

Promise: two runs of the same role on the same CR give equal end states, in whatever namespaces and at
whatever times. So names of namespaces, uids, versions and times are replaced, and what controllers of
Kubernetes add by themselves is left out: status of dependents, and objects that one of *their* objects
controls (pods of a Deployment). The CR's own status is kept, since roles write it; durations in its
messages are replaced as well.

What still differs between two undisturbed runs (addresses, generated passwords) is learned from them
and left out of every comparison: see `Leeway`. Rejected: a list of fields that Kubernetes fills in. It
would be long, and wrong with the next release.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import Client, NoSuchKindError, NotFoundError
from rolecall.record import element_steps, key_step
from rolecall.status import FALSE, NOT_CONVERGING
from rolecall_dev.staging.traffic import NAMESPACE_MARK

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
# The API server mounts the token of each pod's service account under a name that ends at random.
_TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
# `5 s` of "Reboot took 5 s", and `2m30s`.
_DURATION = re.compile(
    r"\b\d+(?:\.\d+)?(?: (?:ms|s|min|h|seconds?|minutes?|hours?)|(?:ms|[smh])(?:\d+(?:ms|[sm]))*)\b"
)
_UID_MARK, _TIME_MARK, _TOKEN_MARK = "<uid>", "<time>", "kube-api-access-<random>"
_DURATION_MARK = "<duration>"
_OF_SERVER = frozenset(
    {
        *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"),
        *("selfLink", "deletionGracePeriodSeconds", "namespace", "generateName"),
    }
)
# Written by controllers of Kubernetes, and counting what they did.
_CONTROLLERS_NOTES = (
    "deployment.kubernetes.io/",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "batch.kubernetes.io/",
    "endpoints.kubernetes.io/",
)
_NOT_COMPARED_IN_STATUS = frozenset({"observedGeneration", "ansibleResult", "lastTransitionTime"})
# What every namespace gets by itself.
_BORN_WITH_NAMESPACE = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
FOREIGN_LABEL = "test.rolecall.dev/foreign"


@dataclass(frozen=True, slots=True)
class Place:
    """The CR of a case, where it is, and of which kinds things may have been made."""

    gvk: Gvk
    namespace: str
    name: str
    kinds: tuple[Gvk, ...]
    wide_kinds: tuple[Gvk, ...] = ()  # without namespaces
    known_before: frozenset[str] = frozenset()  # uids of objects that were there already
    other_crs: frozenset[str] = frozenset()  # kinds of CRs beside it, whose objects are theirs


@dataclass(frozen=True, slots=True)
class Leeway:
    """What two undisturbed runs do not agree on."""

    paths: frozenset[tuple[str, str]] = frozenset()  # object, path
    prefixes: tuple[tuple[str, str], ...] = ()  # kind and beginning of names that end at random

    def object_id(self, kind: str, name: str) -> str:
        for of_kind, prefix in self.prefixes:
            if of_kind == kind and name.startswith(prefix):
                return f"{kind}/{prefix}*"
        return f"{kind}/{name}"


NO_LEEWAY = Leeway()


@dataclass(frozen=True, slots=True)
class EndState:
    """Objects by kind and name, each as its leaves."""

    objects: Mapping[str, Leaves] = field(default_factory=dict)

    def without(self, *ids: str) -> EndState:
        return EndState({key: leaves for key, leaves in self.objects.items() if key not in ids})

    def only(self, prefix: str) -> EndState:
        return EndState({key: it for key, it in self.objects.items() if key.startswith(prefix)})


@dataclass(frozen=True, slots=True)
class StateDifference:
    """One object that is missing or too many, or one leaf of it."""

    id: str
    path: str  # empty: the object as a whole
    expected: Any
    found: Any

    def __str__(self) -> str:
        if self.path:
            found = f"expected {shown_value(self.expected)}, found {shown_value(self.found)}"
            return f"{self.id} {self.path}: {found}"
        return f"{self.id}: {'is missing' if self.found is NO_VALUE else 'should not be there'}"


def differences(
    expected: EndState, found: EndState, leeway: Leeway = NO_LEEWAY
) -> list[StateDifference]:
    """Everything that is not as expected."""
    found_differences: list[StateDifference] = []
    for key in sorted(expected.objects.keys() | found.objects.keys()):
        old, new = expected.objects.get(key), found.objects.get(key)
        if old is None or new is None:
            if (key, "") not in leeway.paths:
                found_differences.append(
                    StateDifference(
                        key, "", NO_VALUE if old is None else {}, NO_VALUE if new is None else {}
                    )
                )
            continue
        for path in sorted(old.keys() | new.keys()):
            was, now = old.get(path, NO_VALUE), new.get(path, NO_VALUE)
            if was != now and (key, path) not in leeway.paths:
                found_differences.append(StateDifference(key, path, was, now))
    return found_differences


def leeway_between(first: EndState, second: EndState, known: Leeway = NO_LEEWAY) -> Leeway:
    """What two undisturbed runs do not agree on, beside what is known already."""
    only_first = [key for key in first.objects if key not in second.objects]
    only_second = [key for key in second.objects if key not in first.objects]
    prefixes = {*known.prefixes, *_common_prefixes(only_first, only_second)}
    paths = {(each.id, each.path) for each in differences(first, second)}
    return Leeway(frozenset(known.paths | paths), tuple(sorted(prefixes)))


def _common_prefixes(first: Sequence[str], second: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Of names that only one of two runs made; each kind with as many in both."""
    by_kind: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for number, keys in enumerate((first, second)):
        for key in keys:
            kind, _, name = key.partition("/")
            by_kind[kind][number].append(name)
    for kind, (some, others) in by_kind.items():
        for one, other in zip(sorted(some), sorted(others), strict=False):
            length = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0
            )
            if length:
                yield kind, one[:length]


async def raw_objects(client: Client, place: Place) -> list[Json]:
    """The CR and all that was made in its namespace, or without one."""
    found: list[Json] = []
    with suppress(NotFoundError):
        found.append(await client.get(place.gvk, place.namespace, place.name))
    for gvk in place.kinds:
        if gvk != place.gvk:
            found += [
                obj
                for obj in await _listed(client, gvk, place.namespace)
                if _is_of_case(obj, place) and obj["metadata"]["uid"] not in place.known_before
            ]
    for gvk in place.wide_kinds:
        found += [
            obj
            for obj in await _listed(client, gvk, "")
            if obj["metadata"]["uid"] not in place.known_before
        ]
    return found


async def read_end_state(client: Client, place: Place, leeway: Leeway = NO_LEEWAY) -> EndState:
    return end_state_of(await raw_objects(client, place), place, leeway)


def end_state_of(found: Sequence[Json], place: Place, leeway: Leeway = NO_LEEWAY) -> EndState:
    uids = {obj["metadata"]["uid"] for obj in found if _is_cr(obj, place)}
    alike: dict[str, list[Leaves]] = defaultdict(list)
    for obj in found:
        normal = leaves_of(_normalized(obj, place, uids))
        alike[object_id(obj, leeway)].append(normal)
    objects: dict[str, Leaves] = {}
    for key, all_leaves in alike.items():
        for number, leaves in enumerate(sorted(all_leaves, key=repr)):
            if "*" in key:
                leaves.pop(".metadata.name", None)
            objects[key if number == 0 else f"{key} ({number + 1})"] = leaves
    return EndState(objects)


def object_id(obj: Json, leeway: Leeway = NO_LEEWAY) -> str:
    """`Deployment.apps/web`; of a generated name only the beginning."""
    metadata = obj["metadata"]
    kind = Gvk.parse(obj["apiVersion"], obj["kind"]).group_kind
    if generated := metadata.get("generateName"):
        return f"{kind}/{generated}*"
    return leeway.object_id(kind, metadata["name"])


async def _listed(client: Client, gvk: Gvk, namespace: str) -> list[Json]:
    try:
        rows = await client.list_all(gvk, namespace)
    except NoSuchKindError:
        return []
    # Items of a list do not say what they are.
    return [{"apiVersion": gvk.api_version, "kind": gvk.kind, **obj} for obj in rows]


def _is_cr(obj: Json, place: Place) -> bool:
    return (obj["apiVersion"], obj["kind"]) == (place.gvk.api_version, place.gvk.kind)


def _is_of_case(obj: Json, place: Place) -> bool:
    metadata = obj["metadata"]
    if (obj["kind"], metadata["name"]) in _BORN_WITH_NAMESPACE:
        return False
    if FOREIGN_LABEL in (metadata.get("labels") or {}):
        return False
    owners = metadata.get("ownerReferences") or ()
    if any(ref.get("kind") in place.other_crs for ref in owners):
        return False
    return all(ref.get("kind") == place.gvk.kind for ref in owners if ref.get("controller"))


def _normalized(obj: Json, place: Place, uids: set[str]) -> Json:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_SERVER}
    if "annotations" in metadata:
        kept = {
            key: value
            for key, value in metadata["annotations"].items()
            if not key.startswith(_CONTROLLERS_NOTES)
        }
        metadata["annotations"] = kept
        if not kept:
            del metadata["annotations"]
    normal = {**without_secrets(obj), "metadata": metadata}
    if _is_cr(obj, place):
        status = _without_past_warning(as_map(obj.get("status")))
        normal["status"] = _mapped(status, _without_duration, _NOT_COMPARED_IN_STATUS)
    else:
        normal.pop("status", None)
    return as_map(_mapped(normal, partial(_text, namespace=place.namespace, uids=uids)))


def _mapped(
    value: Any, on_text: Callable[[str], str], left_out: frozenset[str] = frozenset()
) -> Any:
    """A copy with each text and key replaced, and without what these keys have."""
    if isinstance(value, dict):
        return {
            on_text(key): _mapped(item, on_text, left_out)
            for key, item in value.items()
            if key not in left_out
        }
    if isinstance(value, list):
        return [_mapped(item, on_text, left_out) for item in value]
    return on_text(value) if isinstance(value, str) else value


def _without_past_warning(status: Json) -> Json:
    """`NotConverging` at False says that it was True once, as after six drift edits in a row."""
    rows = status.get("conditions")
    if not isinstance(rows, list):
        return status
    past = (NOT_CONVERGING, FALSE)
    kept = [row for row in rows if (as_map(row).get("type"), as_map(row).get("status")) != past]
    return {**status, "conditions": kept}


def _without_duration(text: str) -> str:
    """In sentences; a text that is a duration and nothing else is a setting."""
    return text if _DURATION.fullmatch(text) else _DURATION.sub(_DURATION_MARK, text)


def _text(text: str, namespace: str, uids: set[str]) -> str:
    for uid in uids:
        text = text.replace(uid, _UID_MARK)
    if namespace:
        text = text.replace(namespace, NAMESPACE_MARK)
    return _TOKEN_VOLUME.sub(_TOKEN_MARK, _TIME.sub(_TIME_MARK, text))


# What differs between two states of an object, path by path, in words for people.
# Reports are kept by build servers, so what a Secret holds is shown as a digest: enough to see that
# it differs.

Leaves = dict[str, Any]
_LONGEST = 80
_COUNTED_BY_SERVER = frozenset({"managedFields", "resourceVersion", "generation"})


def leaves_of(value: Any, path: str = "") -> Leaves:
    """Every value that holds no others, by its path; an empty map or list is one."""
    found: Leaves = {}
    if isinstance(value, dict) and value:
        for key, item in value.items():
            found |= leaves_of(item, f"{path}{key_step(str(key))}")
    elif isinstance(value, list) and value:
        for step, item in zip(element_steps(value), value, strict=True):
            found |= leaves_of(item, f"{path}{step}")
    else:
        found[path] = value
    return found


def changed_leaves(before: Json, after: Json) -> tuple[str, ...]:
    """`.spec.replicas: 3 -> 5` for each leaf that differs, without what the API server counts."""
    old, new = leaves_of(_comparable(before)), leaves_of(_comparable(after))
    return tuple(
        f"{path}: {shown_value(old.get(path, NO_VALUE))} -> {shown_value(new.get(path, NO_VALUE))}"
        for path in sorted(old.keys() | new.keys())
        if old.get(path, NO_VALUE) != new.get(path, NO_VALUE)
    )


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


NO_VALUE = _Missing()


def shown_value(value: Any) -> str:
    """A value as it stands in a difference, shortened."""
    if value is NO_VALUE:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def without_secrets(obj: Json) -> Json:
    """The object; of a Secret, digests in place of what it holds."""
    if obj.get("kind") != "Secret":
        return obj
    hidden = {
        key: {name: _digest(value) for name, value in held.items()}
        for key, held in obj.items()
        if key in ("data", "stringData") and isinstance(held, dict)
    }
    return {**obj, **hidden}


def _digest(value: Any) -> str:
    return f"<secret {hashlib.sha256(str(value).encode()).hexdigest()[:8]}>"


def _comparable(obj: Json) -> Json:
    metadata = obj.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    return {
        **without_secrets(obj),
        "metadata": {key: value for key, value in kept.items() if key not in _COUNTED_BY_SERVER},
    }
