"""Filters that decide about a restore in place: a cluster that runs, whose data are wrong.

What is under way is in `status.lastRestore`, written before the step that it allows: a run that ends
anywhere is followed by one that goes on from there, never by an empty cluster. The volumes say the
rest: those that a restore made name it.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

Json = dict[str, Any]

_WORD = re.compile(r"restore-[0-9a-f]{8}")
_MARK = "mycompany.com/restore"
_TAKEN_BACK = "it was taken back before anything was changed"
_TOO_LARGE = (
    "the snapshot is too large for this cluster; raise storageSize or quotaBackendBytes first"
)
_GIVEN_UP = "it was given up for what spec.recover says"


def etcdcluster_restore_word(said: Json) -> str:
    """What a person writes into `spec.recover` to have a snapshot in place of what is there now.

    It names the members with their volumes, and the restore before: none is done twice.
    """
    told = said.get("members", [])
    if not told:
        return ""
    rows = sorted(f"{row.get('id', '')}={row.get('volume', '')}" for row in told)
    before = _last(said).get("request", "")
    code = hashlib.sha256(",".join([*rows, before]).encode()).hexdigest()[:8]
    return f"restore-{code}"


def etcdcluster_restore_attempt(asked: Json, said: Json, world: Json) -> Json:
    """What to do for a restore in place now: `{do, request, snapshot, backup, message}`.

    `asked` is `{recover, snapshot, empty}` of the spec, `said` the status, `world` has `known` (whether
    etcd answers), `set`, `pods`, `claims`, `members`, and `trial`: the state of the trial's Job.
    `do` is empty, or: `try` the snapshot and back up what is there; `refuse`, where that failed;
    `begin`, where it succeeded, which only says so; `stop` the members; `clear` their volumes; `fill`
    new ones and start; `finish`; `give_up`.
    """
    last = _last(said)
    if last.get("state") == "Trying":
        return _trying(last, asked, world)
    if last.get("state") == "Restoring":
        return _restoring(last, asked, world)
    is_new = asked["recover"] == etcdcluster_restore_word(said) != ""
    if is_new and asked["snapshot"] and _is_whole(said, world):
        return _do("try", {"request": asked["recover"], "snapshot": asked["snapshot"]})
    return _do("", last)


def _trying(last: Json, asked: Json, world: Json) -> Json:
    if (asked["recover"], asked["snapshot"]) != (last["request"], last["snapshot"]):
        return _do("refuse", last, _TAKEN_BACK)
    size, quota = world.get("size", 0), world.get("quota", 0)
    if world["trial"] == "succeeded" and size > quota:
        return _do(
            "refuse", last, f"{_TOO_LARGE}: it has {_mi(size)}, and the quota is {_mi(quota)}"
        )
    return _do({"succeeded": "begin", "failed": "refuse"}.get(world["trial"], "try"), last)


def _mi(size: float) -> str:
    return f"{round(size / 1024**2)}Mi"


def _restoring(last: Json, asked: Json, world: Json) -> Json:
    """From here on only what is said to be under way counts: part of the data may be gone."""
    if asked["empty"]:
        return _do("give_up", last, _GIVEN_UP)
    if etcdcluster_restore_old(world["claims"], last["request"]):
        return _do("stop" if world["set"] or world["pods"] else "clear", last)
    return _do("finish" if world["known"] and world["set"] else "fill", last)


def _mark(claim: Json) -> str:
    return str((claim["metadata"].get("annotations") or {}).get(_MARK, ""))


def _is_whole(said: Json, world: Json) -> bool:
    """Whether etcd answers and no member comes or goes: the new cluster has the same members."""
    told, members = said["members"], world["members"]
    names = [member["name"] for member in members if not member["learner"]]
    is_settled = names == [member["name"] for member in told] and len(names) == len(world["pods"])
    return bool(world["known"] and is_settled and len(names) == len(members))


def _do(what: str, last: Json, message: str = "") -> Json:
    told = {"message": message} if message else {}
    empty = {"request": "", "snapshot": "", "backup": "", "message": ""}
    return empty | {key: last[key] for key in empty if last.get(key)} | told | {"do": what}


def _last(said: Json) -> Json:
    found: Json = said.get("lastRestore") or {}
    return found


def etcdcluster_restore_told(attempt: Json, said: Json, backup: str, now: str) -> Json | None:
    """What status tells of the last restore in place, after this run."""
    states = {
        "try": "Trying",
        "refuse": "Refused",
        "begin": "Restoring",
        "finish": "Restored",
        "give_up": "Refused",
    }
    state = states.get(attempt["do"], "")
    if not state:
        return said.get("lastRestore")
    told = {key: attempt[key] for key in ("request", "snapshot", "backup", "message")}
    if attempt["do"] == "begin":
        told["backup"] = backup
    before = _last(said)
    is_same = (before.get("state"), before.get("request")) == (state, told["request"])
    return told | {"state": state, "time": before["time"] if is_same else now}


def etcdcluster_restore_note(recover: str, said: Json) -> str:
    """That a word for a restore does nothing, where it is for other data than are here."""
    last, word = _last(said), etcdcluster_restore_word(said)
    if not _WORD.fullmatch(recover) or not word or recover in (word, last.get("request")):
        return ""
    return f"`{recover}` in spec.recover is for other data, and does nothing; now it is `{word}`"


def etcdcluster_restore_old(claims: list[Json], request: str) -> list[str]:
    """Volumes with the data that a restore replaces."""
    return [str(claim["metadata"]["name"]) for claim in claims if _mark(claim) != request]


def etcdcluster_restore_way_out(attempt: Json, code: str) -> str:
    """What to do where the snapshot vanished after it was tried."""
    if not attempt["backup"]:
        return ""
    return (
        f"; to take another, set restoreFrom to it and recover to `empty-{code}`"
        f" (`{attempt['backup']}` has what was here before)"
    )


def etcdcluster_restore_code(word: str) -> str:
    """What tells this restore from others, in the names of its objects."""
    return word.rpartition("-")[2]


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_restore_attempt": etcdcluster_restore_attempt,
            "etcdcluster_restore_code": etcdcluster_restore_code,
            "etcdcluster_restore_note": etcdcluster_restore_note,
            "etcdcluster_restore_old": etcdcluster_restore_old,
            "etcdcluster_restore_told": etcdcluster_restore_told,
            "etcdcluster_restore_way_out": etcdcluster_restore_way_out,
            "etcdcluster_restore_word": etcdcluster_restore_word,
        }
