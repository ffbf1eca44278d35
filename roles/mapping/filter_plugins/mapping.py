"""Whose a prefix is, and what a Mapping becomes for a Gateway."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
DEFAULT_PORT = 80
WHOLE = 100  # per cent


def prefix_owner(mappings: Sequence[Json], cr: Json) -> str:
    """The Mapping, as `namespace/name`, whose route this one would take requests from; or nothing.

    The older wins. One that lost to a still older one has nothing that could be taken.
    """
    winners: list[Json] = []
    for each in sorted(mappings, key=_age):
        is_this = _place(each) == _place(cr)
        asking = cr if is_this else each
        rival = next((winner for winner in winners if collide(winner, asking)), None)
        if is_this:
            return _place(rival) if rival else ""
        if rival is None and "deletionTimestamp" not in each["metadata"]:
            winners.append(each)
    return ""


def collide(one: Json, other: Json) -> bool:
    """Whether there can be a request that both want, and that neither has the better claim to.

    A gateway prefers a route that asks for more headers, or names the host: these do not collide.
    """
    mine, theirs = one["spec"]["match"], other["spec"]["match"]
    return (
        _slashless(mine["prefix"]) == _slashless(theirs["prefix"])
        and _gateway(one) == _gateway(other)
        and _share_a_host(mine.get("hosts") or [], theirs.get("hosts") or [])
        and _overlap(_headers(mine), _headers(theirs))
    )


def _overlap(mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    if any(mine[name] != theirs[name] for name in mine.keys() & theirs.keys()):
        return False  # no request has both values
    is_special = mine.keys() < theirs.keys() or theirs.keys() < mine.keys()
    return not is_special


def _share_a_host(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    if not mine or not theirs:
        return not mine and not theirs
    return not {host.lower() for host in mine}.isdisjoint(host.lower() for host in theirs)


def _headers(match: Json) -> dict[str, str]:
    return {name.lower(): value for name, value in (match.get("headers") or {}).items()}


def _slashless(prefix: str) -> str:
    return prefix.rstrip("/")


def _gateway(cr: Json) -> tuple[str, str]:
    """Whose routes it is among; those without one are read by whoever reads annotations."""
    gateway = cr["spec"].get("gateway") or {}
    if not gateway:
        return ("", "")
    return (gateway.get("namespace") or cr["metadata"].get("namespace", ""), gateway["name"])


def _place(cr: Json) -> str:
    return f"{cr['metadata'].get('namespace', '')}/{cr['metadata']['name']}"


def _age(cr: Json) -> tuple[str, str]:
    return (cr["metadata"].get("creationTimestamp", ""), _place(cr))


def address(target: Json) -> str:
    """A target as one text, as `v1alpha1` has it, and as the Service's annotations tell it."""
    return f"{target['host']}:{target['port']}" if "port" in target else str(target["host"])


def weighted(rows: Sequence[Json]) -> list[Json]:
    """Other targets, each as one text, beside its weight."""
    return [{"target": address(row["target"]), "weight": row["weight"]} for row in rows]


def not_services(targets: Sequence[str]) -> list[str]:
    """Targets that no route can name, since they are no Services of this cluster."""
    return [target for target in targets if _service(target) is None]


def backends(target: str, weights: Sequence[Json], namespace: str) -> list[Json]:
    """Where requests go, as an HTTPRoute says it: what the others leave goes to the target."""
    rest = WHOLE - sum(int(row["weight"]) for row in weights)
    rows = [(target, rest), *((str(row["target"]), int(row["weight"])) for row in weights)]
    return [_backend(to, weight, namespace) for to, weight in rows]


def _backend(target: str, weight: int, namespace: str) -> Json:
    service = _service(target)
    if service is None:
        raise ValueError(f"`{target}` is no Service")
    name, home, port = service
    return {
        "group": "",
        "kind": "Service",
        "name": name,
        "namespace": home or namespace,
        "port": port,
        "weight": weight,
    }


def _service(target: str) -> tuple[str, str, int] | None:
    """Name, namespace (nothing: that of the Mapping) and port."""
    host, _, port = target.partition(":")
    name, *rest = host.split(".")
    if rest[1:] not in ([], ["svc"], ["svc", "cluster", "local"]):
        return None
    return (name, rest[0] if rest else "", int(port or DEFAULT_PORT))


def route_refusal(route: Json, gateway: str) -> str:
    """Why the gateway does not serve a route, in its controller's words; nothing where it does."""
    parents = (route.get("status") or {}).get("parents") or []
    told = [row for parent in parents for row in _conditions(parent, route)]
    if not told:
        return f"nobody answers for Gateway {gateway}: is it there, and has it a controller?"
    bad = [row for row in told if row["type"] in _WANTED and row["status"] != "True"]
    return "; ".join(f"{row['reason']}: {row['message']}" for row in bad)


_WANTED = ("Accepted", "ResolvedRefs")


def _conditions(parent: Json, route: Json) -> list[Json]:
    """Those about the route as it is now."""
    generation = route["metadata"].get("generation", 0)
    rows: list[Json] = parent.get("conditions") or []
    return [row for row in rows if row.get("observedGeneration", generation) >= generation]


def is_as_wanted(found: Sequence[Json], wanted: Json) -> bool:
    """Whether there is the object with all that is wanted of it; more may be there, `None` must not."""
    return bool(found) and _holds(found[0], wanted)


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        has = found if isinstance(found, Mapping) else {}
        return all(_holds(has.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(_holds(*pair) for pair in zip(found, wanted, strict=True))
        )
    return bool(found == wanted)


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """By the names that tasks use."""
        return {
            "mapping_address": address,
            "mapping_backends": backends,
            "mapping_is_as_wanted": is_as_wanted,
            "mapping_not_services": not_services,
            "mapping_prefix_owner": prefix_owner,
            "mapping_route_refusal": route_refusal,
            "mapping_weights": weighted,
        }
