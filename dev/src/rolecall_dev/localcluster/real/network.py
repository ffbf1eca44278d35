"""The one thing of a real cluster on the machine's side: a link into its network, and three routes.

Both vanish with the cluster's network namespace. The link's name is taken by creating it, which the
kernel grants to one only: so two clusters that start at once never get the same number.
"""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
from contextlib import suppress
from typing import Any

from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.layout import Layout
from rolecall_dev.localcluster.real.cgroups import Cgroups
from rolecall_dev.localcluster.real.enclosure import ENCLOSURE, FIXED_FOLDERS, MARK, run_inside
from rolecall_dev.localcluster.real.plan import NUMBERS, Plan
from rolecall_dev.localcluster.real.probe import find_program
from rolecall_dev.localcluster.system import attempts, captured

_INNER = "machine"  # the cluster's end of the link
_CLAIMS_EVERYTHING = 8  # bits of a prefix


def join(pid: int, nodes: int) -> Plan:
    """Give the enclosure a number and a network, and the machine a way to it."""
    for number in NUMBERS:
        plan = Plan(number)
        if _is_unused(plan) and _take(plan, pid):
            _set_up_inside(plan, pid, nodes)
            _set_up_outside(plan)
            return plan
    raise InputError(
        f"no private network was free for another real cluster; {len(NUMBERS)} were tried",
        hint="`rolecall cluster list` shows clusters; `ip route` shows who else uses 10.200.0.0/11",
    )


def part(plan: Plan) -> None:
    """Remove the link at once; the kernel would do it too, when it gets to it."""
    _ip("link", "delete", plan.link, is_optional=True)


def _take(plan: Plan, pid: int) -> bool:
    peer = ("peer", "name", _INNER, "netns", str(pid))
    made = _ip("link", "add", plan.link, "type", "veth", *peer, is_optional=True)
    return made.returncode == 0


def _set_up_inside(plan: Plan, pid: int, nodes: int) -> None:
    batch = [
        "link set lo up",
        f"addr add {plan.apiserver}/30 dev {_INNER}",
        f"link set {_INNER} up",
    ]
    batch += [f"addr add {plan.node_address(node)}/32 dev lo" for node in range(1, nodes + 1)]
    batch.append(f"route add default via {plan.host}")
    commands = [f"ip {line}" for line in batch]
    for setting in ("net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables"):
        # Of this network only; the second is missing where bridges are never filtered.
        commands.append(f"echo 1 > /proc/sys/{setting.replace('.', '/')} 2>/dev/null || true")
    run_inside(pid, ["sh", "-e", "-c", "\n".join(commands)])


def _set_up_outside(plan: Plan) -> None:
    _ip("address", "add", f"{plan.host}/30", "dev", plan.link)
    _ip("link", "set", plan.link, "up")
    for network in plan.routed:
        _ip("route", "add", network, "via", plan.apiserver)


def _is_unused(plan: Plan) -> bool:
    """Whether the machine has no way of its own to any of these addresses.

    A route to all of 10.0.0.0/8 is no hindrance: a network that claims everything is seldom all there.
    """
    ours = [ipaddress.ip_network(each) for each in plan.routed]
    ours.append(ipaddress.ip_network(f"{plan.host}/30", strict=False))
    routes: list[dict[str, Any]] = json.loads(_ip("-json", "route", "show").stdout)
    targets = [route["dst"] for route in routes if route["dst"] != "default"]
    others = [ipaddress.ip_network(target, strict=False) for target in targets]
    taken = [other for other in others if other.prefixlen > _CLAIMS_EVERYTHING]
    return not any(network.overlaps(other) for network in ours for other in taken)


def _ip(*arguments: str, is_optional: bool = False) -> subprocess.CompletedProcess[str]:
    result = captured([find_program("ip"), *arguments])
    if result.returncode and not is_optional:
        raise ClusterError(f"`ip {' '.join(arguments)}` failed: {result.stderr.strip()}")
    return result


# What a real cluster has outside of its enclosure and its folder, and how it goes.
# Three things: the link (which vanishes by itself, a moment later), folders of cgroups, and the empty
# folders with fixed names, which the last cluster of the machine takes along.

_EMPTY_S = 10.0  # the kernel empties a cgroup when the last process has been buried


def remove_leftovers(layout: Layout) -> None:
    """After every process of the cluster was ended; a simulated one has none."""
    number = read_number(layout)
    if number is not None:
        plan = Plan(number)
        part(plan)
        _remove_cgroups(plan)
    if os.geteuid() == 0 and _is_last():
        _remove_fixed_folders()


def write_number(layout: Layout, number: int) -> None:
    """Remember it from the moment on when there is something to remove."""
    (layout.folder / "number").write_text(str(number))


def read_number(layout: Layout) -> int | None:
    """Which number the cluster took, also when its start was interrupted."""
    try:
        return int((layout.folder / "number").read_text())
    except (OSError, ValueError):
        return None


def _remove_cgroups(plan: Plan) -> None:
    if not any(Cgroups().remove(plan.cgroup) for _ in attempts(_EMPTY_S)):
        raise ClusterError(f"cgroup `{plan.cgroup}` still has processes in it")


def _is_last() -> bool:
    """Whether folders were made, and no other real cluster has something mounted there."""
    is_marked = any((folder / MARK).exists() for folder in FIXED_FOLDERS)
    return is_marked and all(one.component != ENCLOSURE for one in processes.find(None))


def _remove_fixed_folders() -> None:
    for folder in FIXED_FOLDERS:
        if (folder / MARK).exists():
            (folder / MARK).unlink()
            with suppress(OSError):  # another program's files are in it
                folder.rmdir()
