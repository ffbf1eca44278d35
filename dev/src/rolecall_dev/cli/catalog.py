"""`rolecall catalog`: puts the bundle of this project into its file-based catalog."""

from __future__ import annotations

import argparse
from pathlib import Path

from rolecall.cli import Subparsers, command_parser
from rolecall.errors import ProblemsError
from rolecall_dev.bundle import CATALOG_DOCKERFILE, read_bundle, validate, with_bundle
from rolecall_dev.scaffold import Changes


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "catalog",
        run,
        "Adds bundle/ to catalog/ (file-based), with upgrade edges from `replaces`, `skips`"
        " and `olm.skipRange` of its CSV. Icon, description and deprecations that stand in the catalog"
        " stay. A version that was published with another image is refused.",
        examples={
            "rolecall catalog --bundle-image example.com/web-bundle:1.2.3": "a release",
            "rolecall catalog --bundle-image example.com/web-bundle@sha256:4f1e": "a digest",
        },
    )
    parser.add_argument("--bundle-image", required=True, help="where bundle/ was pushed to")


def run(arguments: argparse.Namespace) -> int:
    files = read_bundle(Path.cwd())
    errors = [problem for problem in validate(files) if not problem.is_warning]
    if errors:
        raise ProblemsError(errors)
    changes = Changes(Path.cwd())
    path = f"catalog/{files.package}/catalog.yaml"
    catalog = with_bundle(changes.text_of(path) or "", path, files, arguments.bundle_image)
    changes.add(path, catalog)
    if changes.text_of("catalog.Dockerfile") is None:
        changes.add("catalog.Dockerfile", CATALOG_DOCKERFILE.read_text())
    changes.write(force=True)
    print(f"{path} has {files.csv['metadata']['name']}")
    return 0
