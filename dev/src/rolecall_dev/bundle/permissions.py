"""Whether the rights of a bundle are enough in every install mode, and not in vain.

`permissions` hold in the namespaces that the OperatorGroup names: OLM makes a Role in each, and a
ClusterRole where it names none, which means all. So they are enough for what belongs to a namespace.
What does not, such as storage classes, or CRs of a CRD with scope `Cluster`, has to be in
`clusterPermissions`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set

from rolecall.json_object import Json
from rolecall_dev.sources import resources_of_no_namespace


def rights_faults(crds: Collection[Json], install: Json) -> Iterator[str]:
    """Rights that the engine lacks, rules that grant nothing where they are, rules without limits."""
    wide = _rules(install, "clusterPermissions")
    narrow = _rules(install, "permissions")
    outside = resources_of_no_namespace(crds)
    for crd in crds:
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        is_namespaced = (group, plural) not in outside
        rules = [rule for _, rule in (*wide, *(narrow if is_namespaced else ()))]
        yield from _missing(rules, group, plural, is_namespaced=is_namespaced)
    for field, rule in narrow:
        yield from _in_vain(field, rule, outside)
    for field, rule in (*wide, *narrow):
        if "*" in rule.get("verbs", ()) or "*" in rule.get("resources", ()):
            yield f"warning: {field} allows everything with {rule.get('resources')}"


def _rules(install: Json, key: str) -> list[tuple[str, Json]]:
    """Each with its field."""
    return [
        (f"{key}[{row}].rules[{number}]", rule)
        for row, permissions in enumerate(install.get(key) or [])
        for number, rule in enumerate(permissions.get("rules") or [])
    ]


def _missing(rules: list[Json], group: str, plural: str, *, is_namespaced: bool) -> Iterator[str]:
    needs = {plural: ("get", "list", "watch"), f"{plural}/status": ("patch",)}
    for resource, verbs in needs.items():
        missing = [it for it in verbs if not any(_allows(r, group, resource, it) for r in rules)]
        if missing:
            where = (
                "" if is_namespaced else " in clusterPermissions, since it belongs to no namespace"
            )
            yield f"not allowed to {', '.join(missing)} `{resource}` of `{group}`{where}"


# A Role lets somebody do this to the namespace that it is in.
_OF_ITS_OWN = frozenset({"get", "patch", "update", "delete"})


def _in_vain(field: str, rule: Json, outside: Set[tuple[str, str]]) -> Iterator[str]:
    for group in rule.get("apiGroups") or ():
        names = {str(name).partition("/")[0] for name in rule.get("resources") or ()}
        if set(rule.get("verbs") or ()) <= _OF_ITS_OWN:
            names -= {"namespaces"}
        if lost := sorted(name for name in names if (group, name) in outside):
            yield (
                f"{field} is for namespaces, so it grants nothing of"
                f" {', '.join(f'`{name}`' for name in lost)}: bind a ClusterRole with it by a"
                " ClusterRoleBinding"
            )
    if rule.get("nonResourceURLs"):
        yield f"{field} has nonResourceURLs, which only a ClusterRole can grant"


def _allows(rule: Json, group: str, resource: str, verb: str) -> bool:
    wanted = (("apiGroups", group), ("resources", resource), ("verbs", verb))
    return all({value, "*"} & set(rule.get(key) or ()) for key, value in wanted)
