"""Bring a cluster up: from nothing, or from whatever an earlier attempt left.

`bring_up` may be called as often as one likes: a complete cluster is returned as it is, missing
components are started again on the same data, and what a killed `up` left is removed first. If the
start fails, nothing of it remains, no process and no file.

Ports are found before the start and may be lost to a faster program in
between; that shows in the log of the one that lost, and the start is tried again with other ports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.api import can_run_pods, create_first_objects
from rolecall_dev.localcluster.cluster import PATIENCE_S, Cluster
from rolecall_dev.localcluster.components import CLIENTS, COMPONENTS, SERVERS
from rolecall_dev.localcluster.identities import (
    AUTHORITY,
    Found,
    copy_kubeconfig,
    require_replaceable,
    write_identities_of_simulated,
)
from rolecall_dev.localcluster.layout import Layout, Ports, Record, clusters_folder
from rolecall_dev.localcluster.owner import (
    claim,
    dismiss,
    is_abandoned,
    is_ours,
    is_owned,
    start_guard,
)
from rolecall_dev.localcluster.programs import Binaries
from rolecall_dev.localcluster.real import launch as real
from rolecall_dev.localcluster.real.images import require_programs
from rolecall_dev.localcluster.real.probe import require_real
from rolecall_dev.localcluster.relay import Relay
from rolecall_dev.localcluster.system import attempts, free_ports, is_free, locked, require_linux
from rolecall_dev.localcluster.takedown import clear, take_down

_READY_S = 90.0  # 3 s on an idle machine; this is for one that is busy with other things
_PORT_S = 3.0
_TRIES = 3
_MOST_NODES = 1000  # each costs kwok a lease every few seconds; more than this is a typing error
_MOST_REAL_NODES = 9
_PORT_TAKEN = "address already in use"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    name: str = "default"
    nodes: int = 1
    root: Path = field(default_factory=clusters_folder)
    kept: bool = True  # False: it ends with this process, however that ends
    kubeconfig: Path | None = None  # where to put a copy of the administrator's
    relays: bool = False  # one in front of the API server and etcd; needs kept=False
    real: bool = False  # nodes that run containers; needs what `what_is_missing` looks for


class InUseError(InputError):
    """Another process has a cluster of this name."""


class _PortTakenError(Exception):
    """Another program was faster; try again."""


def bring_up(wanted: Wanted, binaries: Binaries, say: Say = lambda _: None) -> Cluster:
    require_linux()
    if not 0 <= wanted.nodes <= _MOST_NODES:
        raise InputError(f"number of nodes `{wanted.nodes}` was refused: use 0 to {_MOST_NODES}")
    if wanted.kubeconfig is not None:
        require_replaceable(wanted.kubeconfig)
    if wanted.real:
        _require_real(wanted)
        require_programs(binaries)
    else:
        binaries.require()
    layout = Layout.named(wanted.name, wanted.root)
    with locked(layout.folder, lambda: say(f"waiting for another command on `{wanted.name}`")):
        if is_abandoned(layout.folder):
            clear(layout)
        if record := layout.read_record():
            _require_same_end(layout, wanted)
            return _remember(_resume(Cluster(layout, record), wanted, binaries, say), wanted)
        if any(layout.folder.iterdir()) or processes.find(layout.folder):
            say("removing what an interrupted `up` left")
            clear(layout)
        try:
            return _from_nothing(layout, wanted, binaries)
        except BaseException:
            with suppress(OSError):
                layout.folder.rmdir()
            raise


@contextmanager
def temporary_cluster(
    wanted: Wanted, binaries: Binaries, say: Say = lambda _: None
) -> Iterator[Cluster]:
    """A cluster for as long as the block takes; should this process be killed, it ends as well."""
    cluster = bring_up(replace(wanted, kept=False), binaries, say)
    try:
        yield cluster
    finally:
        take_down(cluster.layout)
        cluster.let_go()


def _require_real(wanted: Wanted) -> None:
    if wanted.relays:
        raise InputError("relays are for simulated nodes only")
    if not 1 <= wanted.nodes <= _MOST_REAL_NODES:
        raise InputError(f"number of real nodes must be between 1 and {_MOST_REAL_NODES}")
    require_real()


def _require_same_end(layout: Layout, wanted: Wanted) -> None:
    """A cluster that is kept, or ends with another, must not end with us, and ours not with theirs."""
    if is_ours(layout.folder):
        return
    if is_owned(layout.folder):
        raise InUseError(
            f"cluster `{wanted.name}` belongs to a demo or test that is still running, and"
            " ends with it",
            hint="choose another `--name`",
        )
    if not wanted.kept:
        raise InUseError(
            f"cluster `{wanted.name}` exists, and would be removed at the end of this command",
            hint=f"choose another `--name`, or `rolecall cluster down --name {wanted.name}` first",
        )


def find_cluster(name: str, root: Path | None = None) -> Cluster | None:
    """The cluster with this name if it has been complete once; parts of it may have died since."""
    layout = Layout.named(name, root)
    record = layout.read_record()
    return None if record is None else Cluster(layout, record)


def _resume(cluster: Cluster, wanted: Wanted, binaries: Binaries, say: Say) -> Cluster:
    if wanted.real != (cluster.plan is not None):
        raise InputError(
            f"cluster `{wanted.name}` exists, and its nodes are"
            f" {'simulated' if wanted.real else 'real'}",
            hint=f"`rolecall cluster down --name {wanted.name}`, or another `--name`",
        )
    if dict(cluster.record.programs) != _paths(binaries):
        raise InputError(
            f"cluster `{wanted.name}` was made with other programs (Kubernetes "
            f"{cluster.record.kubernetes_version}) than those found now",
            hint=f"`rolecall cluster down --name {wanted.name}`, then `up`, makes a new one",
        )
    _check_certificates(cluster, say)
    if wanted.real:
        real.resume(cluster, wanted.nodes)
        return cluster
    running = cluster.running()
    missing = [name for name in COMPONENTS if name not in running]
    _check_ports(cluster, missing)
    for name in missing:
        say(f"starting `{name}` again, on the data it had")
    _launch(cluster, missing)
    _create_first_objects(cluster, wanted.nodes)
    return cluster


def _check_certificates(cluster: Cluster, say: Say) -> None:
    """They cannot be renewed, and a control plane that refuses its own says nothing of use."""
    new = f"`rolecall cluster down --name {cluster.name}`, then `up`, makes a new one"
    try:
        found = Found.read(cluster.layout.certificates / AUTHORITY)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"the certificates of cluster `{cluster.name}` cannot be read: {error}", hint=new
        ) from error
    now = SystemClock().now()
    if now > found.valid_until:
        raise ClusterError(
            f"the certificates of cluster `{cluster.name}` expired on {found.valid_until:%Y-%m-%d}",
            hint=new,
        )
    if now < found.valid_from:
        raise ClusterError(
            f"the certificates of cluster `{cluster.name}` are valid from"
            f" {found.valid_from:%Y-%m-%d %H:%M} UTC on, and it is {now:%Y-%m-%d %H:%M} UTC here",
            hint="set the clock of this machine, which was ahead then or is behind now",
        )
    if not found.names_its_key:
        say(
            f"cluster `{cluster.name}` has certificates of an older version, which programs in Python"
            f" 3.13 and newer refuse by default; {new}"
        )


def _remember(cluster: Cluster, wanted: Wanted) -> Cluster:
    """Write down what was asked for, so that `down` knows every file; from here the cluster is."""
    copies = set(cluster.record.copies)
    if wanted.kubeconfig is not None:
        copy_kubeconfig(cluster.kubeconfig, wanted.kubeconfig)
        copies.add(str(wanted.kubeconfig.absolute()))
    record = replace(cluster.record, nodes=wanted.nodes, copies=tuple(sorted(copies)))
    if record != cluster.layout.read_record():
        cluster.layout.write_record(record)
    return replace(cluster, record=record)


def _check_ports(cluster: Cluster, missing: list[str]) -> None:
    ports = cluster.record.ports
    needed = {"kube-apiserver": ports.apiserver, "etcd": ports.etcd}
    for name in missing:
        if name in needed and not _becomes_free(needed[name]):
            raise InputError(
                f"port {needed[name]} of cluster `{cluster.name}` was taken by another program "
                f"while `{name}` did not run",
                hint=f"`rolecall cluster down --name {cluster.name}`, then `up`, makes a new one",
            )


def _becomes_free(port: int) -> bool:
    """Who was killed a moment ago may still hold its port while its threads end."""
    return any(is_free(port) for _ in attempts(_PORT_S))


def _from_nothing(layout: Layout, wanted: Wanted, binaries: Binaries) -> Cluster:
    for _ in range(_TRIES):
        with suppress(_PortTakenError):
            return _attempt(layout, wanted, binaries)
    raise ClusterError(
        f"other programs took the chosen ports {_TRIES} times in a row",
        hint="`ss -ltn` shows who listens",
    )


def _attempt(layout: Layout, wanted: Wanted, binaries: Binaries) -> Cluster:
    """One start, which either succeeds or leaves nothing."""
    with ExitStack() as undo:
        undo.callback(clear, layout)
        guard = owner = None
        if not wanted.kept:
            owner = claim(layout.folder)
            undo.callback(os.close, owner)
            guard = start_guard(layout.folder)
            undo.callback(dismiss, guard)
        if wanted.real:
            cluster = real.start(layout, wanted.nodes, _paths(binaries))
            cluster = replace(cluster, guard=guard, owner=owner)
            cluster = _remember(cluster, wanted)
            undo.pop_all()
            return cluster
        ports = _choose_ports(relays=wanted.relays)
        relays = _open_relays(ports, undo) if wanted.relays else {}
        write_identities_of_simulated(layout, ports)
        programs = _paths(binaries)
        record = Record(
            ports, SystemClock().now(), binaries.kubernetes_version, wanted.nodes, programs
        )
        cluster = Cluster(layout, record, relays, guard, owner)
        _launch(cluster, COMPONENTS)
        _create_first_objects(cluster, wanted.nodes)
        cluster = _remember(cluster, wanted)
        undo.pop_all()
        return cluster


def _paths(binaries: Binaries) -> dict[str, str]:
    return {name: str(path) for name, path in binaries.paths.items()}


def _choose_ports(*, relays: bool) -> Ports:
    apiserver, etcd, peer, *dialled = free_ports(5 if relays else 3)
    return Ports(apiserver, etcd, peer, *(dialled or (apiserver, etcd)))


def _open_relays(ports: Ports, undo: ExitStack) -> dict[str, Relay]:
    relays = {
        "kube-apiserver": Relay(ports.apiserver_door, ports.apiserver),
        "etcd": Relay(ports.etcd_door, ports.etcd),
    }
    for relay in relays.values():
        try:
            relay.start()
        except OSError as error:
            raise _PortTakenError from error
        undo.callback(relay.close)
    return relays


def _launch(cluster: Cluster, names: Collection[str]) -> None:
    """Servers first; those who only dial them when they are ready."""
    servers = {name: cluster.component(name).launch() for name in SERVERS if name in names}
    _wait_for_start(servers, cluster)
    for name in CLIENTS:
        if name in names:
            cluster.component(name).launch()


def _wait_for_start(started: Mapping[str, int], cluster: Cluster) -> None:
    """Until the API server is ready; a component that ended instead is an error with its words."""
    for _ in attempts(_READY_S):
        if cluster.api.is_ready(PATIENCE_S):
            return
        for name, pid in started.items():
            if (code := processes.exit_code(pid)) is not None:
                raise _early_end(name, code, cluster)
    words = _last_words(cluster.component("kube-apiserver").log)
    raise ClusterError(
        f"the API server was not ready within {_READY_S:.0f} s; its last output:\n{words}"
    )


def _early_end(name: str, code: int, cluster: Cluster) -> Exception:
    words = _last_words(cluster.component(name).log)
    if _PORT_TAKEN in words:
        return _PortTakenError()
    return ClusterError(
        f"`{name}` ended with code {code} while it started; its last output:\n{words}"
    )


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-8:] if log.exists() else []
    return "\n".join(f"  {line[:300]}" for line in lines) or "  (nothing)"


def _create_first_objects(cluster: Cluster, nodes: int) -> None:
    create_first_objects(cluster.api, nodes)
    if not any(can_run_pods(cluster.api) for _ in attempts(_READY_S)):
        raise ClusterError(
            f"nodes and service accounts were not ready within {_READY_S:.0f} s",
            hint="`rolecall cluster logs kwok` and `... kube-controller-manager` show why",
        )
