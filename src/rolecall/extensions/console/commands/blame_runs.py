"""The kept runs that wrote an object: read on this machine, or asked of the operator's pod.

In the pod, `rolecall blame --writes-of JSON` reads its files and prints what it found. The object
itself is read where the person is, under the person's rights: those of the operator are larger.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from rolecall.cli.engine_choice import Here, place_or_gather
from rolecall.cli.kind_words import group_of
from rolecall.errors import InputError
from rolecall.extensions.console.blame import BlamedObject, CrName, FoundWrites, Write
from rolecall.history import KeptCr, kept_crs
from rolecall.json_object import Json


def find_writes(
    arguments: argparse.Namespace, target: BlamedObject, crs: Sequence[CrName]
) -> FoundWrites:
    """Of the engine that is meant."""
    question = json.dumps({"target": asdict(target), "crs": [each.as_json() for each in crs]})
    here = place_or_gather(arguments, ["blame", "--writes-of", question], also_of_one=True)
    if isinstance(here, Here):
        here.check_cluster()
        return read_writes(here, target, crs)
    if isinstance(here, int):
        return FoundWrites(failure=f"the operator's pod answered with exit code {here}")
    return _together([_understood(answer) for answer in here])


def print_writes(here: Here, question: str) -> None:
    """The pod's part."""
    try:
        asked = json.loads(question)
        target = BlamedObject(**asked["target"])
        crs = [CrName(**each) for each in asked["crs"]]
    except (ValueError, TypeError, LookupError):
        raise InputError("--writes-of: what was asked is not understood") from None
    print(json.dumps(read_writes(here, target, crs).as_json()))


def read_writes(here: Here, target: BlamedObject, crs: Sequence[CrName]) -> FoundWrites:
    """From the artifacts of this machine."""
    found = FoundWrites()
    for cr in crs:
        for kept in _kept(here, cr):
            found.read(kept.runs(), str(cr), target)
    return found


def _kept(here: Here, cr: CrName) -> list[KeptCr]:
    """By kind and group; the version of a folder is that which the operator watched."""
    return [
        kept
        for root in here.roots
        for kept in kept_crs(root, cr.kind, cr.name, server=here.server)
        if group_of(kept.api_version) == cr.group and kept.namespace in ("", cr.namespace)
    ]


def _together(found: Sequence[FoundWrites]) -> FoundWrites:
    """What replicas keep that divide the CRs, or did so before: of one CR, several may have runs."""
    failures = [each.failure for each in found if each.failure]
    writes = [write for each in found for write in each.writes]
    return FoundWrites(
        sorted(writes, key=lambda write: write.at, reverse=True),
        sum(each.runs for each in found),
        sum(each.without_record for each in found),
        [run for each in found for run in each.incomplete],
        list(dict.fromkeys(cr for each in found for cr in each.crs)),
        failures[0] if len(failures) == len(found) else "",
    )


def _understood(answer: Json) -> FoundWrites:
    try:
        writes = [Write.from_json(each) for each in answer["writes"]]
        return FoundWrites(**{**answer, "writes": writes})
    except (ValueError, TypeError, LookupError):
        return FoundWrites(failure="the operator's pod runs a release that answers otherwise")
