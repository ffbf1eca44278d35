"""`rolecall rbac`: the least rights of a project, written as a role or compared with what is granted.

Exit codes: 0 where it was written or nothing differs, 2 where `--check` found a difference.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import yaml

from rolecall.cli import Subparsers, command_parser
from rolecall.errors import InputError
from rolecall.extending import watch_keys
from rolecall.watches import WatchDefaults, load_watches
from rolecall_dev.cli.project_arguments import add_watches_file
from rolecall_dev.rbac import (
    STORE_FILE,
    Derived,
    RightsSources,
    account_in,
    compare,
    derive,
    render_cluster_role,
    render_role,
    render_store_role,
    warnings_of,
)

_BESIDE = "cluster_role.yaml"
_NOTES = {
    _BESIDE: "bind its ClusterRole by a ClusterRoleBinding, and add both to {kustomization}",
    STORE_FILE: "add it to {kustomization}",
}
_NARROWER = (
    "hint: grant it by a Role in the namespaces that need it (`--scope namespace`), or have the"
    " role ask the program's own API"
)


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "rbac",
        run,
        "Reads watches, roles and playbooks, and records of the requests of plays"
        " (`rolecall run --proxy-record FILE`), and writes the smallest Role or ClusterRole.",
        examples={
            "rolecall rbac": "write config/rbac/role.yaml",
            "rolecall rbac --check": "compare with config/rbac",
            "rolecall rbac --record requests.jsonl --output -": "add recorded requests, and print",
        },
    )
    add_watches_file(parser)
    parser.add_argument(
        "--record", type=Path, action="append", default=[], metavar="FILE", help="may be repeated"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("config/rbac/role.yaml"),
        metavar="FILE",
        help="%(default)s; `-` prints",
    )
    parser.add_argument("--name", default="", help="of the role; default: the one that it has")
    parser.add_argument(
        "--scope",
        choices=("cluster", "namespace"),
        help="a ClusterRole; or a Role, with a ClusterRole beside it for kinds that belong to no"
        " namespace; default: what it is, and a Role where there is none",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with config/rbac, and fail if it grants more or less",
    )


def run(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    watches, _warnings = load_watches(
        arguments.watches_file, os.environ, WatchDefaults(), cwd, watch_keys()
    )
    derived = derive(RightsSources(cwd, watches, arguments.record))
    for note in derived.notes:
        print(f"note: {note}", file=sys.stderr)
    for warning in warnings_of(derived.rights, is_cluster_wide=_is_cluster_wide(arguments)):
        print(f"warning: {warning}", file=sys.stderr)
        print(_NARROWER, file=sys.stderr)
    if arguments.check:
        return _check(derived, cwd / arguments.output.parent, cwd)
    for file, text in _texts(arguments, derived).items():
        if str(arguments.output) == "-":
            print(text, end="")
        else:
            _write(file, text)
    return 0


def _texts(arguments: argparse.Namespace, derived: Derived) -> dict[Path, str]:
    """One ClusterRole; or a Role, and a ClusterRole for what belongs to no namespace."""
    name = arguments.name or _present(arguments.output)[0]
    own = _own_text(arguments.output, derived, name)
    if _is_cluster_wide(arguments):
        return {arguments.output: render_role(derived.rights, name, is_cluster_wide=True), **own}
    narrow = derived.rights.of(lambda right: not derived.belongs_to_no_namespace(right))
    texts = {arguments.output: render_role(narrow, name, is_cluster_wide=False)}
    wide = derived.rights.of(derived.belongs_to_no_namespace)
    beside = arguments.output.with_name(_BESIDE)
    if wide.reasons or beside.is_file():
        stem = name.removesuffix("-role")
        second = f"{stem}-cluster{name.removeprefix(stem)}"
        texts[beside] = render_cluster_role(wide, second)
    return {**texts, **own}


def _own_text(output: Path, derived: Derived, name: str) -> dict[Path, str]:
    """What is kept in the operator's own namespace; nothing where nothing is, or ever was."""
    file = output.with_name(STORE_FILE)
    if not derived.own.reasons and not file.is_file():
        return {}
    stem = name.removesuffix("-role")
    second = f"{stem}-store{name.removeprefix(stem)}"
    return {file: render_store_role(derived.own, second, account_in(output.parent))}


def _is_cluster_wide(arguments: argparse.Namespace) -> bool:
    if arguments.scope:
        return bool(arguments.scope == "cluster")
    return _present(arguments.output)[1]


def _write(file: Path, text: str) -> None:
    is_new = file.name in _NOTES and not file.is_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"`{file}` could not be written: {error.strerror}") from error
    print(f"wrote {file}")
    if is_new:
        note = _NOTES[file.name].format(kustomization=file.parent / "kustomization.yaml")
        print(f"note: {file} is new; {note}", file=sys.stderr)


def _check(derived: Derived, folder: Path, cwd: Path) -> int:
    differences = compare(derived, folder, cwd)
    for difference in differences:
        print(difference)
    if differences:
        print("hint: `rolecall rbac` writes what is needed", file=sys.stderr)
        return InputError.exit_code
    print("config/rbac grants what is needed, and nothing more")
    return 0


def _present(output: Path) -> tuple[str, bool]:
    """Name and reach of the role that is there."""
    try:
        role = yaml.safe_load(output.read_text(encoding="utf-8"))
        return str(role["metadata"]["name"]), role["kind"] == "ClusterRole"
    except (OSError, yaml.YAMLError, TypeError, KeyError):
        return "manager-role", False
