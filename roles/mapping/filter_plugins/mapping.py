"""Whose a prefix is: a walk through all Mappings, which no table of rules can make."""

from typing import Any


def prefix_owner(mappings: list[Any], cr: Any) -> str:
    """The older Mapping, as `namespace/name`, that wants the same requests and lost to none."""
    winners: list[Any] = []
    older = (row for row in mappings if _age(row) < _age(cr) and _age(row)[1:] != _age(cr)[1:])
    for each in [*sorted(older, key=_age), cr]:
        rival = next((won for won in winners if _collide(_claim(won), _claim(each))), None)
        if rival is None and "deletionTimestamp" not in each["metadata"]:
            winners.append(each)
    return "/".join(_age(rival)[1:]) if rival else ""


def _age(cr: Any) -> tuple[str, ...]:
    return tuple(cr["metadata"].get(key, "") for key in ("creationTimestamp", "namespace", "name"))


def _claim(cr: Any) -> tuple[Any, set[str], set[Any]]:
    match, gateway = cr["spec"]["match"], cr["spec"].get("gateway") or {}
    home = gateway.get("namespace") or cr["metadata"].get("namespace", "")
    headers = {(name.lower(), value) for name, value in (match.get("headers") or {}).items()}
    place = (match["prefix"].rstrip("/"), gateway and (home, gateway["name"]))
    return place, {host.lower() for host in match.get("hosts") or []}, headers


def _collide(one: Any, other: Any) -> bool:
    (place, hosts, mine), (their_place, their_hosts, theirs) = one, other
    is_possible = len(dict(mine | theirs)) == len(mine | theirs)  # a request has one value of each
    is_special = mine < theirs or theirs < mine  # the one with more headers has the better claim
    share_a_host = bool(hosts & their_hosts) or not (hosts or their_hosts)
    return place == their_place and share_a_host and is_possible and not is_special


class FilterModule:
    """What Ansible loads."""

    filters = staticmethod(lambda: {"mapping_prefix_owner": prefix_owner})
