"""Looks at what an uninstall of the operator would leave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from rolecall.json_object import Json
from rolecall.kube import OWNER_TYPE_ANNOTATION, NoSuchKindError, NotFoundError
from rolecall.watches import Watch
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, not_looked, to_do
from rolecall_dev.sources import as_map, containers_of

# The operator of the project as the cluster sees it: what it is called, and whether it runs.

_LABEL = "rolecall.dev/engine"
_FLAG = "leader-election-id"
_VARIABLE = "ROLECALL_LEADER_ELECTION_ID"


def names_of_operator(surroundings: Surroundings) -> set[str]:
    """By the Lease that its Deployment names, or the settings here: label and prefix are the same."""
    found = {surroundings.settings.election.id}
    for _, _, container in containers_of(surroundings.project):
        found.update(_ids(container))
    return found - {""}


def _ids(container: Json) -> Iterator[str]:
    for row in container.get("env") or ():
        if as_map(row).get("name") == _VARIABLE:
            yield str(row.get("value") or "")
    for word in container.get("args") or ():
        name, _, value = str(word).lstrip("-").partition("=")
        if name == _FLAG:
            yield value


async def running_engines(surroundings: Surroundings) -> list[str]:
    """Pods of the operator that run, as namespace/name; of any operator where its name is not known."""
    names = names_of_operator(surroundings)
    pods = await surroundings.read(f"/api/v1/pods?labelSelector={_LABEL.replace('/', '%2F')}")
    return [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods.get("items", ())
        if not pod["metadata"].get("deletionTimestamp")
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        and (not names or pod["metadata"]["labels"][_LABEL] in names)
    ]


# Custom resources that cannot be deleted once the operator is gone.
# The operator adds its finalizer to them, and removes it after its last run has succeeded. Without an
# operator the finalizer stays, so the CR and its namespace cannot be deleted.

_MOST_CRS = 10  # of one kind, one by one


async def look_at_finalizers(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each CR that has the finalizer of its kind."""
    await surroundings.needed_cluster()
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    engines = await running_engines(surroundings)
    seen: list[Diagnosis] = []
    for watch in surroundings.watches:
        seen += await _of_kind(surroundings, watch, is_served=bool(engines))
    return seen or [done("no CR has one that needs the operator")]


async def _of_kind(surroundings: Surroundings, watch: Watch, *, is_served: bool) -> list[Diagnosis]:
    if watch.finalizer is None:
        return []
    client = (await surroundings.needed_cluster()).client
    try:
        plural = (await client.resource_for(watch.gvk)).plural
        crs = await client.list_all(watch.gvk)
    except NoSuchKindError:
        return []
    resource, kind, name = f"{plural}.{watch.gvk.group}", watch.gvk.kind, watch.finalizer.name
    held = [cr for cr in crs if name in (cr["metadata"].get("finalizers") or ())]
    seen = [_held_cr(cr, kind, resource, name, is_served=is_served) for cr in held[:_MOST_CRS]]
    if len(held) > _MOST_CRS:
        more = f"`kubectl get {resource} --all-namespaces` lists them"
        seen.append(to_do(f"{len(held) - _MOST_CRS} more {kind} have it", more))
    return seen


def _held_cr(cr: Json, kind: str, resource: str, finalizer: str, *, is_served: bool) -> Diagnosis:
    metadata = cr["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    what = f"{kind} {f'{namespace}/' if namespace else ''}{name}"
    at = f"{resource} {name}{f' -n {namespace}' if namespace else ''}"
    if metadata.get("deletionTimestamp"):
        what += ", which is being deleted,"
    if is_served:
        return to_do(
            f"{what} has the finalizer `{finalizer}`; only the operator removes it, so without the"
            " operator neither this object nor its namespace can be deleted",
            f"while the operator runs: `kubectl delete {at}`",
        )
    return to_do(
        f"{what} has the finalizer `{finalizer}`, and no operator runs in the cluster to take it away",
        "start the operator again, or here with `rolecall run`, and delete it; or give up what the"
        f" finalizer would do: `kubectl patch {at} --type=json -p '{_patch(metadata, finalizer)}'`",
    )


def _patch(metadata: Json, finalizer: str) -> str:
    """Takes away this one alone, and only where it still stands at its place."""
    path = f"/metadata/finalizers/{metadata['finalizers'].index(finalizer)}"
    steps = [
        {"op": "test", "path": path, "value": finalizer},
        {"op": "remove", "path": path},
    ]
    return json.dumps(steps, separators=(",", ":"))


# What stays in a cluster after an uninstall: by OLM, by `make undeploy`, or by hand.
# OLM leaves CRDs and with them every CR. No tool removes Leases, or claims that hold data. While the
# operator runs, each is listed for information; after an uninstall, each is something to do.

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MOST_NAMES = 12


async def look_at_remains(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each sort of thing that would stay."""
    await surroundings.needed_cluster()
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    is_installed = bool(await running_engines(surroundings))
    found = {
        "CRDs, and with them every CR": ("crd", await _crds(surroundings)),
        "webhooks": ("", [it async for it in _webhooks(surroundings)]),
        "rights in the whole cluster": ("", await _rights(surroundings)),
        "Leases": ("lease", await _leases(surroundings)),
    }
    seen = [
        _diagnosis_of(what, kind, names, is_installed=is_installed)
        for what, (kind, names) in found.items()
        if names
    ]
    if claims := await _claims(surroundings):
        # Never something to do: whether data is still wanted is for its owner to say.
        seen.append(done(f"claims that hold data stay: {_shown(claims)}"))
    return seen or [done("nothing of this operator is left")]


def _diagnosis_of(what: str, kind: str, names: list[str], *, is_installed: bool) -> Diagnosis:
    if is_installed:
        return done(f"an uninstall may leave {what}: {_shown(names)}")
    return to_do(f"{what} are left: {_shown(names)}", _commands(kind, names))


def _commands(kind: str, names: list[str]) -> str:
    """One for each namespace."""
    rows: dict[str, list[str]] = {}
    for name in names:
        namespace, slash, own = name.rpartition("/") if kind == "lease" else ("", "", name)
        rows.setdefault(namespace, []).append(own if slash or kind != "lease" else name)
    texts = [
        " ".join(["kubectl delete", *([kind] if kind else []), *own, *([f"-n {at}"] if at else [])])
        for at, own in rows.items()
    ]
    return "where nothing else needs them: " + ", ".join(f"`{text}`" for text in texts)


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _groups(surroundings: Surroundings) -> set[str]:
    """API groups that belong to the project, and not to Kubernetes."""
    groups = {watch.gvk.group for watch in surroundings.watches}
    return {it for it in groups if "." in it and not it.endswith(".k8s.io")}


async def _crds(surroundings: Surroundings) -> list[str]:
    client = (await surroundings.needed_cluster()).client
    kinds = {watch.gvk.group_kind for watch in surroundings.watches}
    found = await client.read_path(_CRDS)
    return sorted(
        crd["metadata"]["name"]
        for crd in found.get("items", ())
        if f"{crd['spec']['names']['kind']}.{crd['spec']['group']}" in kinds
    )


async def _webhooks(surroundings: Surroundings) -> AsyncIterator[str]:
    groups = _groups(surroundings)
    for plural in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        for item in (await surroundings.read(f"{_ADMISSION}/{plural}")).get("items", ()):
            rules = [rule for hook in item.get("webhooks", ()) for rule in hook.get("rules", ())]
            if _is_about(rules, groups):
                yield f"{plural.removesuffix('s')}/{item['metadata']['name']}"


async def _rights(surroundings: Surroundings) -> list[str]:
    groups = _groups(surroundings)
    prefixes = tuple(f"{name}-" for name in names_of_operator(surroundings))

    def is_ours(role: Json) -> bool:
        name = role["metadata"]["name"]
        return (bool(prefixes) and name.startswith(prefixes)) or _is_about(
            role.get("rules") or (), groups
        )

    roles = {it async for it in _names(surroundings, "clusterroles", is_ours)}
    bindings = [
        it
        async for it in _names(
            surroundings, "clusterrolebindings", lambda it: it["roleRef"]["name"] in roles
        )
    ]
    return [
        *(f"clusterrole/{name}" for name in sorted(roles)),
        *(f"clusterrolebinding/{name}" for name in sorted(bindings)),
    ]


async def _names(
    surroundings: Surroundings, plural: str, is_wanted: Callable[[Json], bool]
) -> AsyncIterator[str]:
    for item in (await surroundings.read(f"{_RBAC}/{plural}")).get("items", ()):
        is_built_in = (item["metadata"].get("labels") or {}).get("kubernetes.io/bootstrapping")
        if not is_built_in and is_wanted(item):
            yield item["metadata"]["name"]


def _is_about(rules: Sequence[Json], groups: set[str]) -> bool:
    return any(groups & set(rule.get("apiGroups") or ()) for rule in rules)


async def _leases(surroundings: Surroundings) -> list[str]:
    found = []
    for name in sorted(names_of_operator(surroundings)):
        path = "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3D" + name
        try:
            items = (await surroundings.read(path)).get("items", ())
        except NotFoundError:
            continue
        found += [f"{it['metadata']['namespace']}/{name}" for it in items]
    return found


async def _claims(surroundings: Surroundings) -> list[str]:
    """Those that carry our marks, and that go with no CR: their data outlives it."""
    groups = _groups(surroundings)
    kinds = {watch.gvk.kind for watch in surroundings.watches}
    items = (await surroundings.read("/api/v1/persistentvolumeclaims")).get("items", ())
    return [
        f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        for claim in items
        if groups & set(_marks(claim["metadata"]))
        and not any(it["kind"] in kinds for it in claim["metadata"].get("ownerReferences") or ())
    ]


def _marks(metadata: Json) -> Iterator[str]:
    for key in metadata.get("labels") or {}:
        yield key.partition("/")[0]
    yield str((metadata.get("annotations") or {}).get(OWNER_TYPE_ANNOTATION, "")).partition(".")[2]
