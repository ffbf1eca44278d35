"""`rolecall pause` and `rolecall resume`: the annotation, with who set it and why.

Written with the person's own rights, not the operator's: the API server's audit names the person.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

from rolecall.cli.cluster import kinds_in, say_cluster
from rolecall.cli.engine_choice import add_output, engines_here
from rolecall.cli.kind_words import CrWord, choose_kind, named_cr, unknown_kind
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.extensions.console.commands.person import person_of
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, CredentialsError, NotFoundError
from rolecall.plain_text import plain
from rolecall.reconcile import PAUSED_ANNOTATION, pausing, resuming

_PAUSE = "pause"
_EPILOG = """\
Uses the cluster and the rights of your kubeconfig; the operator need not run.

-o json prints {"kind", "namespace", "name", "paused", "by", "because"}.
"""


def add_parser(subparsers: Subparsers) -> None:
    of_pause = {
        "rolecall pause website/shop": "run nothing for this CR",
        "rolecall pause website/shop --because 'migration until noon'": "with a reason",
    }
    of_resume = {
        "rolecall resume website/shop": "let its role run again",
        "rolecall resume website/shop -n prod": "in a namespace",
    }
    _add(subparsers, _PAUSE, "pause a CR: run nothing for it", of_pause)
    _add(subparsers, "resume", "resume a CR that is paused", of_resume)


def _add(subparsers: Subparsers, verb: str, summary: str, examples: Mapping[str, str]) -> None:
    parser = command_parser(
        subparsers,
        verb,
        change_pause,
        f"{summary[0].upper()}{summary[1:]}, by the annotation `{PAUSED_ANNOTATION}`.",
        examples=examples,
        epilog=_EPILOG,
    )
    parser.add_argument("what", metavar="KIND/NAME", help="such as website/shop")
    if verb == _PAUSE:
        parser.add_argument("--because", metavar="TEXT", default="", help="why, for others to read")
    add_output(parser, "default: that of the kubeconfig")
    parser.set_defaults(verb=verb)


def change_pause(arguments: argparse.Namespace) -> int:
    word = named_cr(arguments.what)
    result = asyncio.run(_change(word, arguments, os.environ))
    if arguments.output == "json":
        print(json.dumps(result, indent=2))
        return 0
    place = "/".join(filter(None, (result["namespace"], result["name"])))
    if result["paused"]:
        because = f": {result['because']}" if result["because"] else ""
        print(plain(f"{result['kind']} {place} is paused by {result['by']}{because}"))
    else:
        print(plain(f"{result['kind']} {place} is paused no longer"))
    return 0


async def _change(
    word: CrWord, arguments: argparse.Namespace, environ: Mapping[str, str]
) -> dict[str, Any]:
    async with Client(_credentials(environ)) as client:
        say_cluster(client.credentials)
        served = await kinds_in(client)
        kind = choose_kind(word.kind, served)
        if kind is None:
            raise unknown_kind(word.kind, [each for each in served if "." in each.group])
        namespace = arguments.namespace or client.credentials.namespace
        is_paused = arguments.verb == _PAUSE
        by = await person_of(client, environ) if is_paused else None
        because = arguments.because if is_paused else None
        now = SystemClock().now()
        patch = pausing(by or "", because or "", now) if is_paused else resuming()
        cr = await _patched(
            client, kind.gvk, (namespace if kind.is_namespaced else "", word), patch
        )
    metadata = cr["metadata"]
    return {
        "kind": cr["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "paused": is_paused,
        "by": by,
        "because": because,
    }


def _credentials(environ: Mapping[str, str]) -> Credentials:
    """Those of the person; where there are none, the engines of this machine name clusters."""
    try:
        return Credentials.load(environ)
    except CredentialsError as error:
        engines = engines_here(environ)
        if not engines:
            raise
        hint = f"set KUBECONFIG to the file of a cluster; engines run here: {engines}"
        raise CredentialsError(error.message, hint=hint) from None


async def _patched(client: Client, gvk: Gvk, place: tuple[str, CrWord], patch: Json) -> Json:
    namespace, word = place
    try:
        return await client.merge_patch(gvk, namespace, word.name, patch)
    except NotFoundError:
        where = f"in namespace `{namespace}`" if namespace else "in this cluster"
        raise InputError(f"`{word}` was not found {where}", hint="add -n NAMESPACE") from None
