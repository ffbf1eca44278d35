"""Whether admission and conversion webhooks in the cluster would get in the way of the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, NotFoundError, named_kinds
from rolecall.watches import Requirement, Selector
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, not_looked, to_do
from rolecall_dev.rbac import RightsSources, derive

# For which writes the API server calls a webhook, as far as its registration shows.

WrittenResource = tuple[str, str]  # group and plural

_NAME = "kubernetes.io/metadata.name"  # on every namespace, by the API server
_NAMESPACES = ("", "namespaces")  # whose own labels count
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Reach:
    """What of the written resources a webhook is asked about."""

    resources: set[WrittenResource]
    is_certain: bool
    where: str = ""  # " in namespace `a`", where it is not everywhere


@dataclass(frozen=True, slots=True)
class WatchedPlaces:
    """Where the operator works: its namespaces with their labels, and what is in none."""

    labels: Mapping[str, Mapping[str, str]] | None  # None: they may not be read
    of_no_namespace: set[WrittenResource]

    @classmethod
    async def read(cls, surroundings: Surroundings) -> WatchedPlaces:
        client = (await surroundings.needed_cluster()).client
        kinds = await named_kinds(client)
        # Discovery may lack a CRD that was just installed, and most kinds are in namespaces.
        wide = {(each.gvk.group, each.plural) for each in kinds if not each.is_namespaced}
        try:
            listed = await surroundings.read("/api/v1/namespaces")
        except ForbiddenError:
            return cls(None, wide)
        found = {
            item["metadata"]["name"]: item["metadata"].get("labels") or {}
            for item in listed.get("items", ())
        }
        wanted = surroundings.settings.reactor.namespaces or tuple(found)
        return cls({name: found.get(name, {_NAME: name}) for name in wanted}, wide)

    def reach(self, webhook: Json, met: set[WrittenResource]) -> Reach:
        """Of what its rules name, what its selectors leave."""
        is_certain = not (webhook.get("objectSelector") or webhook.get("matchConditions"))
        selector = webhook.get("namespaceSelector") or {}
        if not selector:
            return Reach(met, is_certain)
        is_certain = is_certain and _NAMESPACES not in met
        if self.labels is None:
            return Reach(met, is_certain and met <= self.of_no_namespace)
        wanted = _selector(selector)
        chosen = [name for name, labels in self.labels.items() if wanted.selects(labels)]
        if not chosen:
            return Reach(met & self.of_no_namespace, is_certain)
        is_everywhere = len(chosen) == len(self.labels) or bool(met & self.of_no_namespace)
        return Reach(met, is_certain, "" if is_everywhere else _where(chosen))


def _where(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f" in {shown}{more}"


def _selector(written: Json) -> Selector:
    rows = [
        Requirement(row["key"], row["operator"], tuple(row.get("values") or ()))
        for row in written.get("matchExpressions") or ()
    ]
    return Selector(written.get("matchLabels") or {}, tuple(rows))


# Webhooks of the cluster that block writes of the operator, because they have no ready endpoint.
# An uninstalled operator often leaves its webhooks behind: the API server calls a missing service, and
# rejects every write that matches them. The conversion webhook of a CRD blocks reads, too.

_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_WRITES = frozenset({"create", "update", "patch", "delete"})
_CONFIGURATIONS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")


@dataclass(frozen=True, slots=True)
class _Hook:
    """A webhook that blocks where it does not answer."""

    place: str  # what holds it, and how it is removed
    service: str  # namespace/name
    about: str
    is_certain: bool = True  # False: it may be asked about other objects only


async def look_at_webhooks(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each without a ready endpoint."""
    await surroundings.needed_cluster()
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    written = _written(surroundings)
    hooks = [hook async for hook in _blocking(surroundings, written)]
    seen = [hook for hook in hooks if not await _is_answered(surroundings, hook.service)]
    return [_diagnosis_of(hook) for hook in seen] or [done("none blocks what the roles write")]


def _diagnosis_of(hook: _Hook) -> Diagnosis:
    refuses = "refuses" if hook.is_certain else "may refuse"
    return to_do(
        f"{hook.place} calls the service `{hook.service}`, which has no ready endpoint, so the API"
        f" server {refuses} {hook.about}",
        f"bring that service back; if its operator is gone: `kubectl delete {hook.place}`"
        if "conversion" not in hook.about
        else "bring that service back, or set the CRD's `spec.conversion.strategy` to `None`",
    )


def _written(surroundings: Surroundings) -> set[WrittenResource]:
    sources = RightsSources(surroundings.project, surroundings.watches)
    rights = derive(sources).rights
    return {(it.group, it.resource.partition("/")[0]) for it in rights if it.verb in _WRITES}


async def _blocking(
    surroundings: Surroundings, written: set[WrittenResource]
) -> AsyncIterator[_Hook]:
    places = await WatchedPlaces.read(surroundings)
    for plural in _CONFIGURATIONS:
        configurations = await surroundings.read(f"{_ADMISSION}/{plural}")
        for item in configurations.get("items", ()):
            for hook in _admission_hooks(plural, item, written, places):
                yield hook
    for group, plural in sorted(written):
        conversion = await _conversion(surroundings, group, plural)
        if conversion is not None:
            yield conversion


def _admission_hooks(
    plural: str, item: Json, written: set[WrittenResource], places: WatchedPlaces
) -> Iterator[_Hook]:
    kind = plural.removesuffix("s")
    for webhook in item.get("webhooks", ()):
        service = webhook.get("clientConfig", {}).get("service")
        if service is None or webhook.get("failurePolicy") == "Ignore":
            continue
        reach = places.reach(webhook, _met(webhook.get("rules", ()), written))
        if met := sorted(reach.resources):
            names = ", ".join(f"{name}.{group}" if group else name for group, name in met[:3])
            place = f"{kind} {item['metadata']['name']}"
            about = f"writes of {names}{reach.where}"
            yield _Hook(place, _name_of(service), about, reach.is_certain)


def _met(rules: Iterable[Json], written: set[WrittenResource]) -> set[WrittenResource]:
    return {
        (group, name)
        for rule in rules
        for group, name in written
        if {group, "*"} & set(rule.get("apiGroups", ()))
        and {name, "*", "*/*"} & set(rule.get("resources", ()))
        and set(rule.get("operations", ())) != {"CONNECT"}
    }


async def _conversion(surroundings: Surroundings, group: str, plural: str) -> _Hook | None:
    """The webhook that turns a CR of one version into another."""
    if group not in {watch.gvk.group for watch in surroundings.watches}:
        return None
    name = f"{plural}.{group}"
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    try:
        crd = await surroundings.read(path)
    except NotFoundError:
        return None
    conversion = crd["spec"].get("conversion") or {}
    client_config = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if conversion.get("strategy") != "Webhook" or "service" not in client_config:
        return None
    place = f"customresourcedefinition {name}"
    return _Hook(place, _name_of(client_config["service"]), f"the conversion of {name}")


def _name_of(service: Json) -> str:
    return f"{service.get('namespace', '')}/{service.get('name', '')}"


async def _is_answered(surroundings: Surroundings, service: str) -> bool:
    """Whether the service is there, and a ready pod behind it."""
    namespace, _, name = service.partition("/")
    try:
        await surroundings.read(f"/api/v1/namespaces/{namespace}/services/{name}")
    except NotFoundError:
        return False
    slices = await surroundings.read(
        f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        f"?labelSelector=kubernetes.io/service-name%3D{name}"
    )
    endpoints = [row for item in slices.get("items", ()) for row in item.get("endpoints") or ()]
    return any((row.get("conditions") or {}).get("ready") is not False for row in endpoints)
