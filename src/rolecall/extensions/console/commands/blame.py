"""`rolecall blame`: a live object with, for each field, the task or manager that wrote it last."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rolecall.cli.cluster import kinds_in, say_cluster
from rolecall.cli.engine_choice import add_output, add_place, local_place, with_local_cluster
from rolecall.cli.kind_words import CrWord, cr_word, named_cr, require_kind
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.terminal import say, screen_now
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.extensions.console.blame import (
    Blamed,
    BlamedObject,
    CrName,
    FoundWrites,
    LiveField,
    blame,
    crs_behind,
    live_fields_of,
    who,
)
from rolecall.extensions.console.commands.blame_runs import find_writes, print_writes
from rolecall.extensions.console.commands.blame_text import blame_lines
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.plain_text import plain
from rolecall.record import steps_of_path

_EPILOG = """\
PATH is a field, or what is around it: .spec.replicas, .spec.template.spec.containers[name="web"].

The object is read under your kubeconfig. The runs that wrote it come from the records of kept runs, of
the object itself and of the CRs that own it; for a field that no kept run set, the field manager that
owns it is shown. "(filled in)": the write did not name the field, and the API server set it with that
write. "(?)": the field manager of that write wrote again later, outside of kept runs. Values of Secrets
are masked.

-o json prints {"apiVersion", "kind", "namespace", "name", "crs", "notes", "fields": [{"path", "value",
"by", "filled_in", "doubtful", "write", "manager"}]}.
"""


class _Named(NamedTuple):
    """What was typed."""

    word: CrWord
    path: tuple[str, ...]


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "blame",
        show_blame,
        "Shows a live object with, for each field, the task, run and time that wrote it"
        " last, or the field manager that did.",
        usage="rolecall blame KIND NAME [PATH]",
        examples={
            "rolecall blame deployment web": "every field",
            "rolecall blame deployment web .spec.replicas": "one field",
            "rolecall blame service/web -n prod --cr website/shop": "also search the runs of this CR",
        },
        epilog=_EPILOG,
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="KIND NAME [PATH]",
        help="such as deployment web .spec.replicas; KIND/NAME will do, too",
    )
    add_output(parser, "default: that of the kubeconfig")
    parser.add_argument(
        "--cr",
        metavar="KIND/NAME",
        help="look at the runs of this CR, too; in the namespace of the object",
    )
    # What we ask our own command line in the operator's pod.
    parser.add_argument("--writes-of", help=argparse.SUPPRESS)
    add_place(parser)


def show_blame(arguments: argparse.Namespace) -> int:
    if arguments.writes_of:
        here = local_place(arguments, os.environ)
        if here is None:
            raise InputError("--writes-of is for commands in the operator's pod")
        print_writes(here, arguments.writes_of)
        return 0
    named = _named(arguments.words)
    document, target, extra = asyncio.run(
        _read(named.word, arguments, with_local_cluster(os.environ))
    )
    fields = [each for each in live_fields_of(document) if each.is_below(named.path)]
    if not fields:
        raise _no_field(named, live_fields_of(document))
    crs = [*crs_behind(document), *extra]
    found = find_writes(arguments, target, crs)
    blamed = blame(fields, found.writes)
    notes = _notes(found, crs, blamed)
    if arguments.output == "json":
        print(json.dumps(_as_json(document, found, notes, blamed), indent=2))
    else:
        print("\n".join(blame_lines(blamed, SystemClock().now(), screen_now())))
        for note in notes:
            say(plain(f"note: {note}"))
    return 0


def _named(words: Sequence[str]) -> _Named:
    first, *rest = words or [""]
    word = cr_word(first) if first else CrWord("")
    if word.kind and not word.name and rest:
        word, rest = named_cr(f"{word.kind}/{rest[0]}"), rest[1:]
    if not word.name or len(rest) > 1:
        raise InputError(
            "name one object and at most one of its fields: `rolecall blame deployment web"
            " .spec.replicas`"
        )
    path = rest[0] if rest else ""
    dotted = path if not path or path[0] in ".[" else f".{path}"
    steps = steps_of_path(dotted)
    if steps is None:
        raise InputError(
            f"`{path}` is not the path of a field",
            hint='write keys with other than letters, digits, `-` and `_` as ["app.example.com/x"]',
        )
    return _Named(word, steps)


async def _read(
    word: CrWord, arguments: argparse.Namespace, environ: Mapping[str, str]
) -> tuple[Json, BlamedObject, list[CrName]]:
    """The object, how requests name it, and the CR that was named beside it."""
    async with Client(Credentials.load(environ)) as client:
        say_cluster(client.credentials)
        served = await kinds_in(client)
        kind = require_kind(word.kind, served)
        namespace = arguments.namespace or client.credentials.namespace
        place = namespace if kind.is_namespaced else ""
        try:
            document = await client.get(kind.gvk, place, word.name)
        except NotFoundError:
            where = f"in namespace `{place}`" if place else "in this cluster"
            hint = "add -n NAMESPACE" if place else ""
            raise InputError(f"`{word}` was not found {where}", hint=hint) from None
    extra = []
    if arguments.cr:
        cr = named_cr(arguments.cr)
        of = require_kind(cr.kind, served)
        extra = [CrName(of.kind, of.group, namespace, cr.name)]
    uid = str(document["metadata"].get("uid") or "")
    return document, BlamedObject(kind.group, kind.plural, place, word.name, uid), extra


def _no_field(named: _Named, fields: Sequence[LiveField]) -> InputError:
    path = "".join(named.path)
    depth = len(named.path) - 1
    while depth and not any(each.is_below(named.path[:depth]) for each in fields):
        depth -= 1
    around = [each for each in fields if each.is_below(named.path[:depth])]
    there = sorted({each.steps[depth][0] for each in around if len(each.steps) > depth})
    where = "".join(named.path[:depth]) or "the object"
    hint = f"in {where} there are {', '.join(f'`{step}`' for step in there[:12])}"
    return InputError(plain(f"`{named.word}` has no field `{path}`"), hint=plain(hint))


def _notes(found: FoundWrites, crs: Sequence[CrName], blamed: Sequence[Blamed]) -> list[str]:
    """The limits of this answer, for the user."""
    notes = []
    if found.failure:
        notes.append(f"runs are not considered, only field managers: {found.failure}")
    elif not found.crs:
        named = ", ".join(f"`{each}`" for each in crs)
        notes.append(
            f"no runs of {named} are kept, so only field managers are shown; --cr names another CR"
        )
    return notes + found.limits(blamed)


def _as_json(
    document: Json, found: FoundWrites, notes: Sequence[str], blamed: Sequence[Blamed]
) -> dict[str, Any]:
    metadata = document["metadata"]
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "crs": found.crs,
        "notes": list(notes),
        "fields": [_field_json(each) for each in blamed],
    }


def _field_json(each: Blamed) -> dict[str, Any]:
    write, manager = each.write, each.manager
    write_json = None
    if write is not None:
        write_json = {key: value for key, value in write.as_json().items() if key != "leaves"}
    owner = None
    if manager is not None:
        at = manager.at.isoformat() if manager.at else None
        named = {"manager": manager.manager, "operation": manager.operation}
        owner = {**named, "subresource": manager.subresource, "at": at}
    return {
        "path": each.field.path,
        "value": each.field.value,
        "by": who(each),
        "filled_in": each.is_filled_in,
        "doubtful": each.is_doubtful,
        "write": write_json,
        "manager": owner,
    }
