"""The command line: one module a verb, errors printed the same way for all of them.

A verb module offers `add_parser(subparsers)`, which adds its argparse parser and sets `run`, a function
from parsed arguments to an exit code. Verbs are imported by name only when argparse needs them all
(`--help`) or when they were typed: `rolecall cluster` must not pay for the engine's imports.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from rolecall import __version__
from rolecall.errors import RolecallError

# verb typed -> (module in this package, one-line help)
VERBS = {
    "init": ("init", "start a project in this folder"),
    "create": ("create", "add a kind to a project"),
    "run": ("run", "run the operator of this folder"),
    "check": ("check", "check watches, roles, playbooks, CRDs and RBAC against each other"),
    "rbac": ("rbac", "write the least rights that the roles need, or check those granted"),
    "bundle": ("bundle", "write the OLM bundle of a project, or check it"),
    "catalog": ("catalog", "put the OLM bundle of a project into its catalog"),
    "run-role": ("run_role", "run roles of CRs, without an operator"),
    "demo": ("demo", "show this folder's operator at work on a cluster of its own"),
    "cluster": ("cluster", "a real control plane on this machine, for tests and for trying"),
    "version": ("version", "print the version"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the console script."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = parser_for(typed).parse_args(typed)
        return int(parsed.run(parsed))
    except RolecallError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def parser_for(typed: Sequence[str]) -> argparse.ArgumentParser:
    """A parser that knows the typed verb in full and the others by name."""
    parser = argparse.ArgumentParser(
        prog="rolecall",
        description="Runs Kubernetes operators written in Ansible.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rolecall {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = typed[0] if typed and typed[0] in VERBS else None
    for verb, (module, summary) in VERBS.items():
        if wanted == verb:
            importlib.import_module(f"rolecall.cli.{module}").add_parser(subparsers)
        elif wanted is None:
            subparsers.add_parser(verb, help=summary)
    return parser
