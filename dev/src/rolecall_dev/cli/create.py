"""`rolecall create api`, with the flags of `operator-sdk create api`, and `rolecall create handler`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rolecall.cli import Subparsers, command_parser, with_examples
from rolecall.errors import InputError
from rolecall_dev.cli.webhooks import write_manifests
from rolecall_dev.scaffold import Changes, NewHandler, NewKind, ProjectFile, add_handler, add_kind
from rolecall_dev.webhook_manifests import DEFAULT_OVERLAY

_OF_API = {
    "rolecall create api --group web --version v1 --kind Website": "a kind with a role",
    "rolecall create api --version v1 --kind Shop --generate-playbook": "with a playbook",
}
_OF_HANDLER = {
    "rolecall create handler --kind Website": "handlers and their test",
    "rolecall create handler --kind Website --group web.example.com": "if groups share the kind",
}


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("create", help="add to a project", allow_abbrev=False)
    with_examples(parser, {**_OF_API, **_OF_HANDLER})
    things = parser.add_subparsers(title="things", metavar="THING", required=True)
    api = command_parser(
        things,
        "api",
        create_api,
        "Add a kind to the project in this folder: CRD, role or playbook, sample, molecule"
        " test, RBAC, and its entry in watches.yaml. A kind that is there gets a further version:"
        " its CRD serves both, and the first stays the stored one. Files that are there keep their"
        " comments. Nothing is written unless everything can be.",
        examples=_OF_API,
        help="a kind, with CRD, role, sample, tests and RBAC",
    )
    add_kind_flags(api, is_required=True)
    handler = command_parser(
        things,
        "handler",
        create_handler,
        "Add a file of kopf handlers to a kind that watches.yaml names: handlers/KIND.py,"
        " its test in tests/, its entry in watches.yaml, the field that it writes in the CRD's status,"
        " and requirements.txt for the packages that it imports. Files that are there keep their"
        " comments. Nothing is written unless everything can be.",
        examples=_OF_HANDLER,
        help="a file of kopf handlers for a kind, with its test",
    )
    handler.add_argument("--kind", required=True, help="such as Memcached")
    handler.add_argument("--group", default="", help="where several groups have the kind")
    handler.add_argument("--version", default="", help="where several versions are watched")
    handler.add_argument("--force", action="store_true", help="replace files that are there")


def add_kind_flags(parser: argparse.ArgumentParser, *, is_required: bool) -> None:
    """Those that name a kind and what runs for it."""
    parser.add_argument("--group", default="", help="API group, without the project's domain")
    parser.add_argument("--version", default="", required=is_required, help="such as v1alpha1")
    parser.add_argument("--kind", default="", required=is_required, help="such as Memcached")
    parser.add_argument("--plural", default="", help="default: the usual English plural")
    parser.add_argument(
        "--generate-role", action="store_true", help="a role (the default, if there is none yet)"
    )
    parser.add_argument("--generate-playbook", action="store_true", help="a playbook")
    parser.add_argument(
        "--finalizer",
        action="store_true",
        help="run the role once more before a custom resource is removed",
    )
    parser.add_argument(
        "--crd-version", default="v1", help="accepted; `v1` is the only one that is served"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def create_api(arguments: argparse.Namespace) -> int:
    checked_crd_version(arguments)
    changes = Changes(Path.cwd())
    content = changes.text_of("PROJECT")
    if content is None:
        raise InputError(
            "PROJECT is not there, so there is no project in this folder",
            hint="`rolecall init --domain example.com` starts one",
        )
    project = ProjectFile.parse(content)
    kind = wanted_kind(arguments, changes)
    to_know = add_kind(changes, project, kind, force=arguments.force)
    written(changes, force=arguments.force)
    if to_know:
        if (changes.root / DEFAULT_OVERLAY).is_file():
            write_manifests(changes.root, Path("watches.yaml"))
        print(to_know)
    return 0


def create_handler(arguments: argparse.Namespace) -> int:
    changes = Changes(Path.cwd())
    wanted = NewHandler(arguments.kind, arguments.group, arguments.version)
    to_know = add_handler(changes, wanted, force=arguments.force)
    written(changes, force=arguments.force)
    if to_know:
        print(to_know)
    return 0


def wanted_kind(arguments: argparse.Namespace, changes: Changes) -> NewKind:
    """What the flags ask for; without any, a role, unless there is one to be used."""
    for flag in ("version", "kind"):
        if not getattr(arguments, flag):
            raise InputError(f"`--{flag}` is needed to add a kind")
    has_play = arguments.generate_role or arguments.generate_playbook
    has_role = (changes.root / "roles" / arguments.kind.lower() / "tasks").is_dir()
    return NewKind(
        group=arguments.group,
        version=arguments.version,
        kind=arguments.kind,
        plural=arguments.plural,
        role=arguments.generate_role or not (has_play or has_role),
        playbook=arguments.generate_playbook,
        finalizer=arguments.finalizer,
    )


def checked_crd_version(arguments: argparse.Namespace) -> None:
    """Only `v1` is served by any Kubernetes that is supported."""
    if arguments.crd_version != "v1":
        raise InputError(
            f"CRD version `{arguments.crd_version}` is no longer served by Kubernetes; use `v1`"
        )


def written(changes: Changes, *, force: bool) -> None:
    edited = set(changes.edited)
    for path in sorted(changes.write(force=force)):
        print(f"{'changed' if path in edited else 'wrote  '} {path}")
