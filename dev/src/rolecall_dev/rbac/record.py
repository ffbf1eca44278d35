"""What plays really asked for, from the lines that `rolecall run --proxy-record FILE` wrote."""

from __future__ import annotations

import json
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.rbac.rights import Rights

_WATCHED = ("list", "watch")  # what the engine does with what plays create


def add_record(path: Path, rights: Rights) -> None:
    """Add the rights of a record. A request that was refused was asked for all the same."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"the record `{path}` could not be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            group, resource, verb = row.get("group"), row.get("resource"), row["verb"]
        except (ValueError, KeyError, AttributeError) as error:
            raise InputError(
                f"{path}:{number}: is not a line of a record",
                hint="records are written by `rolecall run --proxy-record FILE`",
            ) from error
        if not resource or group is None:
            continue  # discovery and other paths, which every account may read
        whole = f"{resource}/{row['subresource']}" if row.get("subresource") else resource
        verbs = (verb, *_WATCHED) if verb == "create" and whole == resource else (verb,)
        rights.add(group, whole, verbs, f"recorded for {row.get('for', 'a play')}")
