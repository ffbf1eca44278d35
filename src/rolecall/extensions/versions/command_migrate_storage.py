"""`rolecall migrate-storage`: all objects of a kind are stored at its storage version.

With the person's own rights, or those of the pod it is started in.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rolecall.cli.cluster import kinds_in, say_cluster
from rolecall.cli.kind_words import choose_kind
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.terminal import say
from rolecall.errors import InputError, RolecallError
from rolecall.extending import watch_keys
from rolecall.extensions.versions.migration.rewrite import MigrationCounts
from rolecall.extensions.versions.migration.stored import StoredKind
from rolecall.extensions.versions.migration.whole_kind import (
    Migrated,
    MigrationError,
    Pace,
    migrate,
    tried,
)
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.plain_text import plain
from rolecall.watches import WatchDefaults, load_watches

_PER_SECOND = 100.0
_EPILOG = """\
Rewrites each object as it is, and then takes the older versions out of the
CRD's `status.storedVersions`. Only then may a version be dropped from the CRD.
One that was killed is begun anew: what is done is not written twice.

Uses the cluster and the rights of your kubeconfig; the operator need not run.
Needs `list` and `patch` of the kind in all namespaces, `get` of the CRD, and
`patch` of its `status`.

-o json prints a list of {"crd", "storage", "objects", "rewritten",
"dropped"}. Exit codes: 0 nothing is left at an older version, 3 something is,
or the cluster said no.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "migrate-storage",
        migrate_storage,
        "Rewrites the CRs of a kind, so that all are stored at its storage version.",
        examples={
            "rolecall migrate-storage website --dry-run": "ask the API server, store nothing",
            "rolecall migrate-storage website": "one kind",
            "rolecall migrate-storage --all --per-second 5": "every kind of watches.yaml, slowly",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("kind", nargs="?", metavar="KIND", help="such as website")
    parser.add_argument("--all", action="store_true", help="every kind of watches.yaml")
    parser.add_argument(
        "--watches-file",
        type=Path,
        default=Path("watches.yaml"),
        metavar="FILE",
        help="which kinds --all means (default: %(default)s)",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="ask the API server what it would say to each object, and store nothing",
    )
    parser.add_argument(
        "--per-second",
        type=float,
        default=_PER_SECOND,
        metavar="NUMBER",
        help="most writes in a second; 0: no limit (default: %(default)g)",
    )
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="default: text"
    )


def migrate_storage(arguments: argparse.Namespace) -> int:
    if bool(arguments.kind) == arguments.all:
        raise InputError("name one kind, or use --all")
    if arguments.per_second < 0:
        raise InputError("--per-second was below 0", hint="0 means no limit")
    done, failures = asyncio.run(_migrated(arguments, os.environ))
    if arguments.output == "json":
        print(json.dumps([_as_json(each) for each in done], indent=2))
    for failure in failures:
        for refused in failure.refused if isinstance(failure, MigrationError) else ():
            say(f"refused: {plain(str(refused))}")
    for failure in failures[:-1]:
        say(f"error: {failure}")
    if failures:
        raise failures[-1]
    return 0


async def _migrated(
    arguments: argparse.Namespace, environ: Mapping[str, str]
) -> tuple[list[Migrated], list[RolecallError]]:
    """What came of each kind; one that cannot be migrated does not keep the others from it."""
    done: list[Migrated] = []
    failures: list[RolecallError] = []
    async with Client(Credentials.load(environ)) as client:
        say_cluster(client.credentials)
        for crd in await _crds(client, arguments, environ):
            try:
                one = await _one(client, crd, arguments)
            except RolecallError as failure:
                failures.append(failure)
                continue
            done.append(one)
            if arguments.output == "text":
                print(_sentence(one, is_trial=arguments.dry_run))
    return done, failures


async def _one(client: Client, crd: str, arguments: argparse.Namespace) -> Migrated:
    def on_progress(counts: MigrationCounts) -> None:
        refused = f", {len(counts.refused)} refused" if counts.refused else ""
        word = "looked at" if arguments.dry_run else "done"
        say(f"{crd}: {counts.seen} {word}, {counts.rewritten} rewritten{refused}")

    pace = Pace(arguments.per_second, on_progress=on_progress)
    try:
        return await (tried if arguments.dry_run else migrate)(client, crd, pace)
    except NotFoundError:
        raise InputError(f"the cluster has no CRD `{crd}`") from None


async def _crds(
    client: Client, arguments: argparse.Namespace, environ: Mapping[str, str]
) -> Sequence[str]:
    served = await kinds_in(client)
    if arguments.kind:
        found = choose_kind(arguments.kind, served)
        if found is None:
            raise InputError(
                f"the cluster has no kind `{arguments.kind}`",
                hint="`kubectl get crds` shows what it has",
            )
        if "." not in found.group:
            raise InputError(
                f"kind `{arguments.kind}` is of no CRD, so it has no storage version to choose"
            )
        return [f"{found.plural}.{found.group}"]
    watches, _ = load_watches(
        arguments.watches_file, environ, WatchDefaults(), Path.cwd(), watch_keys()
    )
    watched = {(watch.gvk.group, watch.gvk.kind) for watch in watches if "." in watch.gvk.group}
    return [f"{each.plural}.{each.group}" for each in served if (each.group, each.kind) in watched]


def _sentence(done: Migrated, *, is_trial: bool) -> str:
    kind, counts = done.kind, done.counts
    if not kind.older:
        return f"{kind.crd}: all is stored at `{kind.storage}`, nothing to do"
    older = _versions(kind.older)
    if not is_trial:
        return (
            f"{kind.crd}: {counts.seen} objects, {counts.rewritten} rewritten at"
            f" `{kind.storage}`; nothing is stored at {older} any more"
        )
    head = f"{kind.crd}: {counts.seen} objects, some of which may be stored at {older}"
    if not counts.refused:
        return f"{head}; all of them can be rewritten at `{kind.storage}`"
    lines = [f"{head}; {len(counts.refused)} cannot be rewritten at `{kind.storage}`:"]
    return "\n".join([*lines, *(f"  {plain(str(each))}" for each in counts.refused)])


def _as_json(done: Migrated) -> dict[str, Any]:
    kind: StoredKind = done.kind
    return {
        "crd": kind.crd,
        "storage": kind.storage,
        "objects": done.counts.seen,
        "rewritten": done.counts.rewritten,
        "dropped": list(done.dropped),
        "refused": [
            {"namespace": each.namespace, "name": each.name, "why": each.why}
            for each in done.counts.refused
        ],
    }


def _versions(versions: Sequence[str]) -> str:
    return ", ".join(f"`{version}`" for version in versions)
