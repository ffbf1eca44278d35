"""`rolecall bundle`: writes `bundle/` for OLM from rendered manifests, or checks the one that is there.

kubectl kustomize config/manifests | rolecall bundle --version 1.2.3 --image registry/name:v1.2.3
rolecall bundle --validate
rolecall bundle --scorecard --local-cluster
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rolecall import __version__
from rolecall.cli import Subparsers, command_parser
from rolecall.errors import InputError, Problem
from rolecall.extending import watch_keys
from rolecall.watches import Watch, WatchDefaults, load_watches
from rolecall.webhooks import webhooks_of
from rolecall_dev import localcluster
from rolecall_dev.bundle import (
    Files,
    FromRoles,
    Identity,
    dropped_versions,
    lost_under_olm,
    make_bundle,
    read_bundle,
    scores,
    split,
    takes,
    validate,
)
from rolecall_dev.rbac import made_by
from rolecall_dev.scaffold import Changes, ProjectFile


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "bundle",
        run,
        "Reads the output of `kubectl kustomize config/manifests` from stdin and writes"
        " bundle/ and bundle.Dockerfile; the same input gives the same files.",
        examples={
            "kubectl kustomize config/manifests | rolecall bundle --version 1.2.3": "write bundle/",
            "rolecall bundle --validate": "check bundle/",
        },
    )
    parser.add_argument("--validate", action="store_true", help="check bundle/, write nothing")
    parser.add_argument(
        "--scorecard",
        action="store_true",
        help="run the basic and OLM tests of the scorecard on it",
    )
    parser.add_argument(
        "--local-cluster",
        action="store_true",
        help="with --scorecard: a cluster made for it, and removed after, says whether it takes"
        " everything",
    )
    parser.add_argument("--version", default="", help="of the bundle, such as 1.2.3")
    parser.add_argument("--image", default="", help="of the operator")
    parser.add_argument("--package", default="", help="default: the project's name in PROJECT")
    parser.add_argument("--channels", default="candidate", help="separated by commas (%(default)s)")
    parser.add_argument("--default-channel", default="", help="default: the first")
    parser.add_argument("--replaces", default="", metavar="VERSION", help="that it follows")
    parser.add_argument("--manifests", default="-", metavar="FILE", help="instead of reading stdin")


def run(arguments: argparse.Namespace) -> int:
    if arguments.local_cluster and not arguments.scorecard:
        raise InputError("`--local-cluster` is a way of `--scorecard`", hint="give both")
    if arguments.scorecard:
        return _score(on_cluster=arguments.local_cluster)
    return _validate() if arguments.validate else _write(arguments)


def _write(arguments: argparse.Namespace) -> int:
    if not arguments.version:
        raise InputError("`--version` is needed", hint="`--version 1.2.3`")
    changes = Changes(Path.cwd())
    content = changes.text_of("PROJECT")
    project = ProjectFile.parse(content) if content else None
    identity = Identity(
        package=arguments.package or (project.name if project else ""),
        version=arguments.version,
        builder=f"rolecall-{__version__}",
        layout=str((project.data.get("layout") or [""])[0]) if project else "rolecall.dev/v1",
        channels=tuple(arguments.channels.split(",")),
        default_channel=arguments.default_channel,
        replaces=arguments.replaces,
    )
    if not identity.package:
        raise InputError("`--package` is needed, since there is no PROJECT file to take it from")
    manifests = split(_text(arguments.manifests))
    bundle = make_bundle(manifests, identity, arguments.image, _from_roles())
    for path, text in bundle.files.items():
        changes.add(path, text)
    changed = changes.write(force=True)
    stale = _stale(changes.root, bundle.files)
    for file in stale:
        file.unlink()
    print(
        f"bundle/ is {identity.package} {identity.version}: {len(changed) + len(stale)} files changed"
    )
    return 0


def _stale(root: Path, files: dict[str, str]) -> list[Path]:
    """Files of an earlier bundle that this one does not have."""
    there = [path for path in (root / "bundle").rglob("*") if path.is_file()]
    return [it for it in there if str(it.relative_to(root)) not in files and it.suffix == ".yaml"]


def _from_roles() -> FromRoles:
    """What the roles make and are asked; nothing where there is no watches.yaml to follow."""
    watches = _watches()
    made = {watch.gvk.kind: made_by(watch, Path.cwd()) for watch in watches}
    return FromRoles(made, webhooks_of(watches))


def _watches() -> list[Watch]:
    watches_file = Path("watches.yaml")
    if not watches_file.is_file():
        return []
    return load_watches(watches_file, os.environ, WatchDefaults(), Path.cwd(), watch_keys())[0]


def _text(source: str) -> str:
    if source != "-":
        try:
            return Path(source).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"`{source}` could not be read: {error.strerror}") from error
    if sys.stdin.isatty():
        raise InputError(
            "the rendered manifests are read from stdin",
            hint="`kubectl kustomize config/manifests | rolecall bundle ...`",
        )
    return sys.stdin.read()


def _score(*, on_cluster: bool) -> int:
    files = read_bundle(Path.cwd())
    found = scores(files)
    _print_scores(found)
    if on_cluster and not any(found.values()):
        found = _scores_on_cluster(files)
        _print_scores(found)
    elif on_cluster:
        print("the cluster was not asked, because the files have errors")
    return InputError.exit_code if any(found.values()) else 0


def _scores_on_cluster(files: Files) -> dict[str, list[str]]:
    """Starts a cluster without nodes, because the scorecard needs no pods."""
    name = f"scorecard-{os.getpid()}"
    wanted = localcluster.Wanted(name=name, nodes=0)
    with localcluster.temporary_cluster(wanted, localcluster.find_binaries()) as cluster:
        return takes(files, lambda arguments, text: cluster.refusal(*arguments, stdin=text))


def _print_scores(found: dict[str, list[str]]) -> None:
    for name, faults in found.items():
        print(f"{'FAIL' if faults else 'pass'} {name}")
        for fault in faults:
            print(f"     {fault}")


def _validate() -> int:
    files = read_bundle(Path.cwd())
    has_policies = Path("config/webhooks/policies.yaml").is_file()
    lost = lost_under_olm(webhooks_of(_watches()), has_policies=has_policies)
    dropped = dropped_versions(Path.cwd(), files.crds)
    problems = [
        *validate(files),
        *(Problem(files.csv_file, None, what, is_warning=True) for what in dropped),
        *(Problem(files.csv_file, None, what, is_warning=True) for what in lost),
    ]
    for problem in problems:
        print(problem)
    errors = sum(not problem.is_warning for problem in problems)
    print(f"checked bundle/: {errors} errors, {len(problems) - errors} warnings")
    return InputError.exit_code if errors else 0
