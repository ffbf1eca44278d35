"""`rolecall convert`: a custom resource at another version, as the operator would convert it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from rolecall.cli import Subparsers, command_parser
from rolecall.conversion import CONVERSIONS_FILE, Conversion, load_conversions
from rolecall.errors import InputError, Problem, ProblemsError
from rolecall.json_object import Json
from rolecall_dev.cli.crs import read_objects


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "convert",
        run,
        "Prints the custom resources of a file at another version of their kind, by the"
        " rules of conversions.yaml; objects of other kinds stay as they are. Reads lists, too, such"
        " as `kubectl get -o yaml` writes. Needs no cluster, and changes nothing.",
        examples={
            "rolecall convert --file shop.yaml --to v1beta1": "a file",
            "kubectl get website -o yaml | rolecall convert --file - --to v1": "CRs of the cluster",
        },
    )
    parser.add_argument("--file", required=True, metavar="FILE", help="manifest, or - for stdin")
    parser.add_argument("--to", required=True, metavar="VERSION", help="such as v1beta1")
    parser.add_argument(
        "--conversions",
        type=Path,
        default=CONVERSIONS_FILE,
        metavar="FILE",
        help="the rules (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    conversions = {(it.group, it.kind): it for it in load_conversions(arguments.conversions)}
    shown: list[Json] = []
    faults: list[Problem] = []
    converted = 0
    for found in read_objects(arguments.file):
        conversion = conversions.get((str(found["apiVersion"]).rpartition("/")[0], found["kind"]))
        if conversion is None:
            shown.append(found)
            continue
        converted += 1
        try:
            shown.append(_converted(conversion, found, arguments.to))
        except InputError as error:
            named = f"{found['kind']} `{found['metadata']['name']}`: {error.message}"
            faults.append(Problem(arguments.file, None, named, hint=error.hint))
    if faults:
        raise ProblemsError(faults)
    if not converted:
        raise _nothing(arguments, shown, conversions)
    yaml.safe_dump_all(shown, sys.stdout, sort_keys=False, allow_unicode=True)
    return 0


def _converted(conversion: Conversion, found: Json, version: str) -> Json:
    known = ", ".join(f"`{each}`" for each in conversion.versions)
    here = str(found["apiVersion"]).rpartition("/")[2]
    for what, word in (("--to", version), ("apiVersion", here)):
        if word not in conversion.versions:
            raise InputError(
                f"`{word}` ({what}) is not a version of the conversion",
                hint=f"there are {known}",
            )
    return conversion.convert(found, version)


def _nothing(
    arguments: argparse.Namespace, found: Sequence[Json], known: Iterable[tuple[str, str]]
) -> InputError:
    kinds = ", ".join(dict.fromkeys(f"`{each['kind']}` ({each['apiVersion']})" for each in found))
    converted = ", ".join(f"`{kind}` ({group})" for group, kind in known)
    return InputError(
        f"{arguments.file}: nothing in it is converted: {kinds or 'it is empty'}",
        hint=f"{arguments.conversions} converts {converted or 'nothing'}",
    )
