"""Looks at the cluster: whether it answers, its clock, kinds, leader, and what it lets us do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.election import Division
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NoSuchKindError, NotFoundError
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, not_looked, to_do
from rolecall_dev.localcluster import all_clusters
from rolecall_dev.rbac import RightsSources, derive

# Which cluster it is, where that is written, and whether it answers.

_START_ONE = "start it, or set KUBECONFIG; `rolecall cluster up` starts one on this machine"


async def look_at_cluster(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line, and one more where a cluster of this machine is up and not the one that is used."""
    try:
        server = str(Credentials.load(surroundings.environment).server)
    except RolecallError as error:
        return [to_do(error.message, error.hint or _START_ONE)]
    origin = _origin(surroundings)
    try:
        reached = await surroundings.cluster()
    except RolecallError as error:
        what = f"{server} does not answer ({origin}): {error.message}"
        return [to_do(what, error.hint or _START_ONE), *_others(server, origin)]
    seen = [done(f"{server} answers, {reached.version} ({origin})")]
    return [*seen, *_others(server, origin)]


def _origin(surroundings: Surroundings) -> str:
    """Where it is written which cluster this is."""
    environment = surroundings.environment
    if named := environment.get("KUBECONFIG"):
        first = Path(named.split(os.pathsep)[0])
        return f"KUBECONFIG is {first}"
    home = Path(environment.get("HOME") or "/") / ".kube" / "config"
    return f"from {home}" if home.is_file() else "the pod's own"


def _others(server: str, origin: str) -> list[Diagnosis]:
    """What `rolecall cluster up` started, where something else is used: easily mixed up."""
    running = [status for status in all_clusters() if status.state in {"ready", "ailing"}]
    if not running or any(status.url == server for status in running):
        return []
    names = ", ".join(f"`{status.name}`" for status in running)
    return [
        done(f"note: the local cluster {names} runs too, and is not the one that is used: {origin}")
    ]


# Whether our clock and the API server's agree: certificates, tokens and times in status hang on it.

# The server names whole seconds, and the answer takes its time. What is off by more confuses people
# who compare times in status with those of the log; tokens allow a minute or so.
_ALLOWED_S = 5.0


async def look_at_clocks(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """By the `Date` of an answer."""
    skew = (await surroundings.needed_cluster()).skew
    if skew is None:
        return [not_looked("the API server's responses have no `Date` header")]
    seconds = skew.total_seconds()
    if abs(seconds) <= _ALLOWED_S:
        return [done("agrees with that of the API server")]
    direction = "ahead of" if seconds > 0 else "behind"
    return [
        to_do(
            f"this machine's clock is {abs(seconds):.0f} s {direction} that of the API server, so"
            " certificates and tokens may count as expired, or as not valid yet",
            "set the time of the one that is wrong, such as with `timedatectl set-ntp true`",
        )
    ]


# Whether the cluster serves the kinds that watches.yaml names.
async def look_at_kinds(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for all that are there, and one for each that is not."""
    client = (await surroundings.needed_cluster()).client
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    seen = []
    for watch in surroundings.watches:
        try:
            await client.resource_for(watch.gvk)
        except NoSuchKindError:
            seen.append(
                to_do(
                    f"{watch.gvk.kind} ({watch.gvk.api_version}) is not served by the cluster",
                    "install its CRD, such as with `make install`; the operator waits for it",
                )
            )
    return seen or [done(f"all {len(surroundings.watches)} are served")]


# Who leads, where there is an election; whether replicas divide the CRs, where there are shards.

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"


async def look_at_lease(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the Lease that the settings name."""
    election, division = surroundings.settings.election, surroundings.settings.division
    if not election.is_on and not division:
        return [
            done("no election: `--leader-elect` and `--shards` are off, so run one operator only")
        ]
    place = f"{election.namespace}/{election.id}"
    path = _LEASES.format(namespace=election.namespace, name=election.id)
    try:
        spec = (await surroundings.read(path)).get("spec") or {}
    except NotFoundError:
        return [done(f"the Lease {place} does not exist yet")]
    holder = str(spec.get("holderIdentity") or "")
    if not holder:
        return [done(f"the Lease {place} is released; the next operator that starts takes it")]
    silent_s = _silent_s(spec)
    if silent_s > float(spec.get("leaseDurationSeconds") or 15):
        return [
            to_do(
                f"{holder} holds the Lease {place} and did not renew it for {silent_s:.0f} s",
                "no operator works now; look whether its pod runs, and at its log",
            )
        ]
    return [_living(holder, place, division.partition("/")[2])]


def _living(holder: str, place: str, wanted: str) -> Diagnosis:
    """`wanted`: into how many shards the settings here divide the CRs; empty: they do not."""
    division = Division.of(holder)
    if division is None:
        if not wanted:
            return done(f"{holder} leads (Lease {place})")
        return to_do(
            f"{holder} leads by the Lease {place}, and the settings here ask for `--shards`",
            "replicas with shards wait until it ends: start all of them with the same flags",
        )
    if wanted in ("", division.count):
        return done(
            f"replicas divide the CRs into {division.count} shards (Lease {place});"
            " `rolecall status --shards` says who has which"
        )
    return to_do(
        f"replicas divide the CRs into {division.count} shards (Lease {place}), and the settings here"
        f" say {wanted}",
        "say the same number everywhere: replicas with another one wait until the others end",
    )


def _silent_s(spec: Mapping[str, Any]) -> float:
    """Since its holder renewed it; 0 where it does not say when."""
    try:
        renewed = datetime.fromisoformat(str(spec.get("renewTime") or ""))
    except ValueError:
        return 0.0
    return (SystemClock().now() - renewed).total_seconds()


# Whether the rights that engine and roles need are granted, asked of the API server one by one.
# Asked are the rights that `rolecall rbac` would write. By default those of the kubeconfig are looked
# at, as `rolecall run` on this machine would have them; `--as` asks about the operator's
# ServiceAccount. A rules review was rejected: it is incomplete wherever something else than RBAC may
# grant.

_REVIEWS = "authorization.k8s.io"
_AT_ONCE = 8
_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class _Asked:
    group: str
    resource: str
    verb: str
    namespace: str  # empty: all


async def look_at_rights(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for all that are granted, else one for each resource."""
    client = (await surroundings.needed_cluster()).client
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    who = f"`{surroundings.user}`" if surroundings.user else "this kubeconfig"
    namespaces = surroundings.settings.reactor.namespaces or ("",)
    if await _may(client, _Asked("*", "*", "*", ""), surroundings.user):
        return [done(f"{who} may do everything")]
    sources = RightsSources(surroundings.project, surroundings.watches)
    derived = await asyncio.to_thread(derive, sources)
    asked = [
        _Asked(right.group, right.resource, right.verb, namespace)
        for right in derived.rights
        for namespace in namespaces
    ]
    settings = surroundings.settings
    home = settings.election.namespace or settings.namespace
    asked += [_Asked(right.group, right.resource, right.verb, home) for right in derived.own]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def is_granted(one: _Asked) -> bool:
        async with gate:
            return await _may(client, one, surroundings.user)

    granted = await asyncio.gather(*map(is_granted, asked))
    lacking = [one for one, is_there in zip(asked, granted, strict=True) if not is_there]
    seen = _diagnoses_of(lacking, who)
    return seen or [done(f"{who} has the {len(asked)} that the operator and its roles need")]


def _diagnoses_of(lacking: Sequence[_Asked], who: str) -> list[Diagnosis]:
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in lacking:
        rows.setdefault((one.namespace, one.group, one.resource), []).append(one.verb)
    return [
        to_do(
            f"{who} may not {', '.join(verbs)} `{resource}{f'.{group}' if group else ''}`"
            f" in {f'namespace {namespace}' if namespace else 'all namespaces'}",
            "`rolecall rbac` writes the role; apply it, and bind it to the operator",
        )
        for (namespace, group, resource), verbs in rows.items()
    ]


async def _may(client: Client, asked: _Asked, user: str) -> bool:
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "verb": asked.verb,
        "namespace": asked.namespace,
    }
    spec: dict[str, Any] = {"resourceAttributes": attributes}
    kind = "SelfSubjectAccessReview"
    if user:
        kind = "SubjectAccessReview"
        spec |= {"user": user, "groups": _groups_of(user)}
    gvk = Gvk(_REVIEWS, "v1", kind)
    body = {"apiVersion": gvk.api_version, "kind": kind, "metadata": {}, "spec": spec}
    answer = await client.create(gvk, body)
    return bool(answer.get("status", {}).get("allowed"))


def _groups_of(user: str) -> list[str]:
    if not user.startswith(_ACCOUNT):
        return ["system:authenticated"]
    namespace = user.removeprefix(_ACCOUNT).partition(":")[0]
    accounts = "system:serviceaccounts"
    return [accounts, f"{accounts}:{namespace}", "system:authenticated"]
