"""`rolecall cluster`: build, start, look at and remove control planes on this machine.

What a program may read (a path, a table, a log) goes to stdout; what only people read goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path

from rolecall.cli import Subparsers, command_parser, with_examples
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.kube import Credentials
from rolecall_dev import localcluster
from rolecall_dev.cli.progress import BuildProgress, in_words

# What kubectl does with files alone: `make bundle` needs no cluster.
_WITHOUT_CLUSTER = ("kustomize", "completion", "help", "options")
_EXAMPLES = {
    "build": {
        "rolecall cluster build": "the programs of a control plane",
        "rolecall cluster build --real": "also those of real nodes",
    },
    "up": {
        "rolecall cluster up": "one simulated node",
        "rolecall cluster up --nodes 3 --name other": "a second cluster",
    },
    "down": {
        "rolecall cluster down": "the cluster `default`",
        "rolecall cluster down --all": "every cluster of yours",
    },
    "status": {
        "rolecall cluster status": "the cluster `default`",
        "rolecall cluster status --name other --json": "another one, for a program",
    },
    "list": {
        "rolecall cluster list": "a table",
        "rolecall cluster list --json": "for a program",
    },
    "load-image": {
        "rolecall cluster load-image operator.tar": "an archive of `docker save`",
        "rolecall cluster load-image --trial --name other": "the images of tests and samples",
    },
    "kubeconfig": {
        "export KUBECONFIG=$(rolecall cluster kubeconfig)": "for kubectl and rolecall",
        "rolecall cluster kubeconfig --name other": "of another cluster",
    },
    "logs": {
        "rolecall cluster logs kube-apiserver": "from the beginning",
        "rolecall cluster logs etcd -f": "follow it",
    },
    "kubectl": {
        "rolecall cluster kubectl get pods -A": "on the cluster `default`",
        "rolecall cluster kubectl --name other get nodes": "on another one",
        "rolecall cluster kubectl --current get nodes": "on the cluster of your kubeconfig",
    },
}
_NAMED = ("up", "down", "status", "kubeconfig", "kubectl", "load-image", "logs")


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "cluster",
        help="a real control plane on this machine, for tests and first steps",
        description="Real etcd, kube-apiserver, controller manager and scheduler on 127.0.0.1, with "
        "simulated nodes: nothing runs in the pods, all else is real. With `--real` containers run.",
    )
    with_examples(parser, {**_EXAMPLES["up"], **_EXAMPLES["down"]})
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    build_parser = _add(
        verbs, "build", build, "build the programs, once per version (takes some minutes)"
    )
    build_parser.add_argument(
        "--real", action="store_true", help="also the programs for real nodes"
    )
    up_parser = _add(verbs, "up", up, "start a cluster, or what is missing of it")
    up_parser.add_argument(
        "--nodes", type=int, default=1, metavar="K", help="how many (default: 1)"
    )
    up_parser.add_argument(
        "--real", action="store_true", help="nodes that run containers (needs root and packages)"
    )
    up_parser.add_argument(
        "--kubeconfig", type=Path, metavar="PATH", help="write a copy of the kubeconfig here"
    )
    up_parser.add_argument(
        "--assets", type=Path, metavar="DIR", help="folder with the programs, instead of the cache"
    )
    down_parser = _add(verbs, "down", down, "remove a cluster with everything in it")
    down_parser.add_argument("--all", action="store_true", help="every cluster of yours")
    status_parser = _add(verbs, "status", status, "what runs, since when, with how much memory")
    list_parser = _add(verbs, "list", list_clusters, "all your clusters")
    load_parser = _add(verbs, "load-image", load_image, "load an image into the real nodes")
    load_parser.add_argument(
        "archives", type=Path, nargs="*", metavar="FILE.tar", help="docker-archives to load"
    )
    load_parser.add_argument(
        "--trial", action="store_true", help="load the images that our tests and samples run"
    )
    _add(verbs, "kubeconfig", kubeconfig, "print the path of the kubeconfig")
    logs_parser = _add(verbs, "logs", logs, "print the log of a component")
    logs_parser.add_argument(
        "component", metavar="COMPONENT", help=", ".join(localcluster.COMPONENTS)
    )
    logs_parser.add_argument("-f", "--follow", action="store_true", help="follow the log")
    _add_kubectl(verbs)
    for each in (status_parser, list_parser):
        each.add_argument("--json", action="store_true", help="print JSON")
    for each in (verbs.choices[name] for name in _NAMED):
        each.add_argument("--name", default="default", metavar="N", help="which (default: default)")


def build(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    clock = SystemClock()
    began = clock.monotonic()
    cache = localcluster.default_cache()
    programs = _programs(real=arguments.real)
    missing = localcluster.missing_programs(cache, programs=programs)
    localcluster.build_programs(BuildProgress(sys.stderr), programs=programs)
    if missing:
        spent = in_words(clock.monotonic() - began)
        _print_progress(f"{len(missing)} programs were built in {spent}, into {cache}")
    else:
        _print_progress(f"nothing to build: all programs are there ({cache})")
    return 0


def up(arguments: argparse.Namespace) -> int:
    """Start, and say what to type next."""
    signal.signal(signal.SIGTERM, _interrupt)
    clock = SystemClock()
    began = clock.monotonic()
    localcluster.sweep()
    wanted = localcluster.Wanted(
        name=arguments.name,
        nodes=arguments.nodes,
        kubeconfig=arguments.kubeconfig,
        real=arguments.real,
    )
    binaries = localcluster.find_binaries(arguments.assets, programs=_programs(real=arguments.real))
    cluster = localcluster.bring_up(wanted, binaries, _print_progress)
    path = arguments.kubeconfig or cluster.kubeconfig
    is_installed = shutil.which("kubectl") is not None
    name = "" if cluster.name == "default" else f" --name {cluster.name}"
    _print_progress(
        f"cluster `{cluster.name}` is ready after {clock.monotonic() - began:.1f} s: {cluster.url},"
        f" Kubernetes {cluster.record.kubernetes_version}, {_nodes(cluster.record.nodes)}"
    )
    print(f"export KUBECONFIG={path}")
    print(f"{'kubectl' if is_installed else f'rolecall cluster kubectl{name}'} get nodes")
    print(f"rolecall cluster down{name}     # removes it with everything in it")
    return 0


def down(arguments: argparse.Namespace) -> int:
    """Remove one or all; what is not there needs no removing."""
    localcluster.sweep()
    names = [arguments.name]
    if arguments.all:
        names = [status.name for status in localcluster.all_clusters()]
    for name in names:
        gone = localcluster.take_down(localcluster.Layout.named(name))
        _print_progress(f"cluster `{name}` is gone" if gone else f"there was no cluster `{name}`")
    return 0


def status(arguments: argparse.Namespace) -> int:
    """One cluster in detail; exit code 3 when it is not ready."""
    found = localcluster.status_of(localcluster.Layout.named(arguments.name))
    if found is None:
        raise _no_cluster(arguments.name)
    if arguments.json:
        print(json.dumps(asdict(found), default=str, indent=2))
    else:
        print(_headline(found))
        rows: list[tuple[str, ...]] = [("COMPONENT", "STATE", "PID", "MEMORY")]
        rows += [_component_row(component) for component in found.components]
        _print_table(rows)
    return 0 if found.state == "ready" else 3


def list_clusters(arguments: argparse.Namespace) -> int:
    localcluster.sweep()
    found = localcluster.all_clusters()
    if arguments.json:
        print(json.dumps([asdict(status) for status in found], default=str, indent=2))
        return 0
    if not found:
        _print_progress("there is no cluster; `rolecall cluster up` starts one")
        return 0
    rows = [("NAME", "STATE", "URL", "MEMORY", "SINCE")]
    rows += [
        (each.name, each.state, each.url or "-", _megabytes(each.memory_bytes), _since(each))
        for each in found
    ]
    _print_table(rows)
    return 0


def load_image(arguments: argparse.Namespace) -> int:
    """Onto every node; prints the names by which pods use the images."""
    cluster = _cluster(arguments.name)
    if cluster.plan is None:
        raise InputError(
            f"cluster `{cluster.name}` has simulated nodes, which do not run images",
            hint="`rolecall cluster up --real` starts one with real nodes",
        )
    _say_cluster({"KUBECONFIG": str(cluster.kubeconfig)})
    archives = list(arguments.archives)
    if arguments.trial:
        archives += localcluster.write_trial_images(localcluster.default_cache())
    names = [name for archive in archives for name in localcluster.names_in(archive)]
    localcluster.load_images(cluster, archives)
    print("\n".join(names))
    return 0


def kubeconfig(arguments: argparse.Namespace) -> int:
    """For `export KUBECONFIG=$(rolecall cluster kubeconfig)`."""
    print(_cluster(arguments.name).kubeconfig)
    return 0


def kubectl(arguments: argparse.Namespace) -> int:
    """Whatever kubectl is asked; its exit code is ours."""
    words = arguments.passed_on
    if arguments.current:
        return _kubectl_of_environment(words)
    cluster = localcluster.find_cluster(arguments.name)
    binaries = localcluster.find_binaries()
    if cluster is not None:
        program = cluster.record.programs["kubectl"]
        command = [program, f"--kubeconfig={cluster.kubeconfig}", *words]
        # Programs read kubectl's own words there, and have named the cluster themselves.
        if sys.stderr.isatty():
            _say_cluster({"KUBECONFIG": str(cluster.kubeconfig)})
    elif words and words[0] in _WITHOUT_CLUSTER and "kubectl" in binaries.paths:
        command = [str(binaries["kubectl"]), *words]
    else:
        raise _no_cluster(arguments.name)
    return subprocess.run(command, check=False).returncode


def _kubectl_of_environment(words: list[str]) -> int:
    binaries = localcluster.find_binaries()
    program = shutil.which("kubectl") or str(binaries.paths.get("kubectl") or "")
    if not program:
        raise InputError("kubectl was not found", hint="`rolecall cluster build` builds it")
    if words and words[0] not in _WITHOUT_CLUSTER:
        _say_cluster(os.environ)
    return subprocess.run([program, *words], check=False).returncode


def _say_cluster(environment: Mapping[str, str]) -> None:
    _print_progress(f"cluster: {Credentials.load(environment).target}")


def logs(arguments: argparse.Namespace) -> int:
    """What a component said, from the beginning."""
    cluster = _cluster(arguments.name)
    if arguments.component not in cluster.component_names:
        known = ", ".join(cluster.component_names)
        raise InputError(f"component `{arguments.component}` is not one of {known}")
    log = cluster.component(arguments.component).log
    follow = ["-F"] if arguments.follow else []
    return subprocess.run(["tail", "-n", "+1", *follow, log], check=False).returncode


def _interrupt(_number: int, _frame: object) -> None:
    """`kill` is as polite as Ctrl-C: what was begun is undone."""
    raise KeyboardInterrupt


def _add(
    verbs: Subparsers, name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    return command_parser(
        verbs, name, partial(_on_linux, run), summary, examples=_EXAMPLES[name], help=summary
    )


def _on_linux(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    localcluster.require_linux()
    return run(arguments)


def _add_kubectl(verbs: Subparsers) -> None:
    summary = "run the built kubectl on the cluster"
    usage = "rolecall cluster kubectl [--name N | --current] ..."
    parser = PassingParser(prog="rolecall cluster kubectl", usage=usage, description=summary)
    parser.add_argument(
        "--current",
        action="store_true",
        help="on the cluster that KUBECONFIG leads to, and say which, instead of a local one",
    )
    parser.set_defaults(run=partial(_on_linux, kubectl))
    with_examples(parser, _EXAMPLES["kubectl"])
    verbs.add_parser("kubectl", help=summary)
    verbs.choices["kubectl"] = parser


def _programs(*, real: bool) -> tuple[localcluster.Program, ...]:
    return (*localcluster.PROGRAMS, *(localcluster.REAL_PROGRAMS if real else ()))


def _cluster(name: str) -> localcluster.Cluster:
    found = localcluster.find_cluster(name)
    if found is None:
        raise _no_cluster(name)
    return found


def _no_cluster(name: str) -> InputError:
    return InputError(
        f"cluster `{name}` was not found",
        hint="`rolecall cluster list` shows what there is, `rolecall cluster up` starts one",
    )


def _headline(found: localcluster.ClusterStatus) -> str:
    where = f" at {found.url}, Kubernetes {found.kubernetes_version}" if found.url else ""
    return (
        f"cluster `{found.name}` is {found.state}{where}, since {_since(found)},"
        f" {_megabytes(found.memory_bytes)} in all"
    )


def _since(found: localcluster.ClusterStatus) -> str:
    if found.started_at is None:
        return "-"
    age_s = (SystemClock().now() - found.started_at).total_seconds()
    return f"{_local(found.started_at)} ({in_words(age_s)})"


def _local(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _component_row(component: localcluster.ComponentStatus) -> tuple[str, ...]:
    if component.pid is None:
        return (component.name, "not running", "-", "-")
    state = "frozen" if component.is_frozen else "running"
    return (component.name, state, str(component.pid), _megabytes(component.memory_bytes))


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.0f} MB"


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("   ".join(cells).rstrip())


def _print_progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# A verb that hands its words to another program, but for options of its own that come first.
# argparse's own way (`REMAINDER`) takes only what follows a word without a dash, so in
# `kubectl -n prod get pods` it would stop at `-n`, which is not ours to judge.
class PassingParser(argparse.ArgumentParser):
    """Reads its own options as long as nothing else was typed; `passed_on` is the rest."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Split the words where the other program's begin."""
        words = list(args or ())
        at = self._end_of_own(words)
        found, _ = super().parse_known_args(words[:at], namespace)
        rest = words[at:]
        found.passed_on = rest[1:] if rest[:1] == ["--"] else rest
        return found, []

    def _end_of_own(self, words: Sequence[str]) -> int:
        at = 0
        while at < len(words):
            name, equals, _ = words[at].partition("=")
            action = self._option_string_actions.get(name)
            if action is None:
                break
            at += 1 if equals or action.nargs == 0 else 2
        return at
