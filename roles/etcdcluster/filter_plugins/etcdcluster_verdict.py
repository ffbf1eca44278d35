"""Filters that put an etcd cluster into words: one reason, and a message that says what is true.

The first of the views below that has something to say is what `Ready` tells.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def etcdcluster_verdict(facts: Json) -> Json:
    """Reason and message of `Ready`: `{reason, message}`."""
    views = (
        _replacing,
        _restoring,
        _answered,
        _lost,
        _shut_out,
        _silent,
        _full,
        _refused,
        _unhealthy,
        _scaling,
        _renewing,
        _securing,
        _restore_refused,
    )
    return next((said for view in views if (said := view(facts))), _healthy(facts))


def _said(reason: str, message: str, why: str = "") -> Json:
    return {"reason": reason, "message": f"{message}: {why}" if why else message}


def _replacing(facts: Json) -> Json | None:
    """A snapshot comes in place of data that are there."""
    attempt = facts["attempt"]
    snapshot, kept = f"`{attempt['snapshot']}`", f"what was here before is in `{attempt['backup']}`"
    messages = {
        "try": f"snapshot {snapshot} is tried and a backup is taken; nothing is changed before that",
        "begin": f"snapshot {snapshot} is good, and the members are stopped next; {kept}",
        "stop": f"the members are stopped, to start from snapshot {snapshot}; {kept}",
        "clear": f"the members' volumes are made anew for snapshot {snapshot}; {kept}",
        "fill": f"the members start from snapshot {snapshot}; {kept}",
    }
    message = messages.get(attempt["do"], "")
    return (
        _said("Restoring", message, facts.get("restore_note") or facts["why"]) if message else None
    )


def _restore_refused(facts: Json) -> Json | None:
    """Until the person who asked for it has seen that."""
    attempt = facts["attempt"]
    if attempt.get("state") != "Refused" or attempt["request"] != facts["recover"]:
        return None
    return _said(
        "RestoreRefused",
        f"snapshot `{attempt['snapshot']}` was not restored, and the cluster goes on as it was; mend"
        f" that and set spec.recover to `{facts['word']}`, or take recover out",
        attempt["message"],
    )


def _restoring(facts: Json) -> Json | None:
    snapshot = facts["restoring"]
    if not snapshot:
        return None
    return _said(
        "Restoring",
        f"the members' volumes are filled from snapshot `{snapshot}`",
        facts.get("restore_note", ""),
    )


def _answered(facts: Json) -> Json | None:
    """A person has said what to do about a loss."""
    recovery = facts["recovery"]
    if recovery["do"] == "empty":
        return _said("Recovering", "the cluster is made anew and empty, as spec.recover says")
    if recovery["do"] == "adopt":
        message = "the members start with the volumes that are there, as spec.recover says"
        return _said("Recovering", message, facts["why"])
    if recovery["do"] == "force":
        member = recovery["member"]
        return _said(
            "Recovering",
            f"the cluster is made anew from the data of `{member}`, as spec.recover says",
            facts["why"],
        )
    return None


def _lost(facts: Json) -> Json | None:
    loss, known = facts["loss"], len(facts["told"])
    if facts["known"] or not loss["reason"]:
        return None
    empty = f"set spec.recover to `empty-{loss['code']}`"
    copies = ""
    if others := loss.get("others"):
        copies = (
            f"; the volumes of {_names(others)} are others than before: if they hold copies of the"
            f" data, set spec.recover to `volumes-{loss['code']}` to go on with them"
        )
    if loss["reason"] == "DataLost":
        return _said(
            "DataLost",
            f"the volumes of all {known} members are gone and no empty cluster is put in their place; "
            f"to start anew, from restoreFrom where it is set, {empty}{copies}",
        )
    return _said(
        "QuorumLost",
        f"only {_names(loss['kept'])} of {known} members still has its volume, too few for a quorum; "
        f"to go on with its data, {_recover(loss)}; to give it up, {empty}{copies}",
    )


def _shut_out(facts: Json) -> Json | None:
    """Members answer, and do not let the role in."""
    if facts["known"] or not facts["refused"]:
        return None
    secret = f"a user with the role root into Secret `{facts['secret']}`, as username and password"
    if facts["users"]["wanted"]:
        message = f"etcd refuses the user of Secret `{facts['secret']}`; put {secret}"
    else:
        message = (
            "etcd asks for a user, and spec.authentication does not want that; "
            f"put {secret}, and set spec.authentication"
        )
    return _said("AccessRefused", message + "; then delete the pod of one member")


def _silent(facts: Json) -> Json | None:
    """No member that has a leader answers."""
    if facts["known"] and facts["members"]:
        return None
    runs = f"{facts['running']} of {facts['pods']} pods run"
    known = len(facts["told"])
    if not known:
        return _said("Starting", f"no member answers yet; {runs}", facts["why"])
    if facts["running"] * 2 > known:
        return _said("Starting", f"the members find each other again; {runs}", facts["why"])
    way_out = f"if they never come back, {_recover(facts['loss'])}"
    return _said("NoQuorum", f"the other members are waited for; {runs}; {way_out}", facts["why"])


def _full(facts: Json) -> Json | None:
    space = facts["space"]
    if not space["full"]:
        return None
    if space["roomy"]:
        message = f"the database has room again, {space['size']} of {space['quota']}; "
        return _said("DatabaseFull", message + "etcd is told to take writes")
    return _said(
        "DatabaseFull",
        f"writes are refused, since the database has {space['size']} and its quota is "
        f"{space['quota']}; delete keys, and set spec.compaction and spec.defragment, or raise "
        "spec.quotaBackendBytes; etcd takes writes again once a tenth of the quota is free",
    )


def _recover(loss: Json) -> str:
    ways = [f"`{member}-{loss['code']}`" for member in loss["kept"]]
    return f"set spec.recover to {' or '.join(ways)}"


def _names(members: list[str]) -> str:
    return " and ".join(f"`{member}`" for member in members)


def _refused(facts: Json) -> Json | None:
    target = facts["target"]
    if not target["refusal"]:
        return None
    goes_on = f"; the members go on to {target['version']}" if facts["renewal"]["left"] else ""
    return _said("VersionRefused", target["refusal"] + goes_on)


def _unhealthy(facts: Json) -> Json | None:
    renewal, step = facts["renewal"], facts["step"]
    sick = step["member"].get("name", "") if step["do"] == "wait" else ""
    if not sick:
        return None
    if not _upgrades(facts):
        message = f"`{sick}` is not healthy; nothing is changed until it is"
        return _said("MembersUnhealthy", message, facts["why"])
    target = facts["target"]["version"]
    if sick in facts["renewal"]["renewed"]:
        message = f"`{sick}` starts with {target}, and no other member is taken until it is healthy"
        return _said("Upgrading", message, facts["why"])
    left = renewal["left"] or len(facts["told"])
    message = (
        f"`{sick}` is not healthy, so no member is taken to {target} until it is; {left} to go"
    )
    return _said("MembersUnhealthy", message, facts["why"])


def _upgrades(facts: Json) -> bool:
    target = facts["target"]["version"]
    return any(member["version"] != target for member in facts["told"])


def _scaling(facts: Json) -> Json | None:
    step = facts["step"]["do"]
    if step == "nothing":
        return None
    count = len(facts["members"])
    return _said("Scaling", f"{count} members, going to {facts['wanted']}; step: {step}")


def _renewing(facts: Json) -> Json | None:
    left = facts["renewal"]["left"]
    target, told = facts["target"]["version"], facts["told"]
    if _upgrades(facts):
        done = sum(member["version"] == target for member in told)
        return _said("Upgrading", f"{done} of {len(told)} members run {target}; one goes at a time")
    if left:
        return _said("Renewing", f"{left} pods are replaced, one at a time")
    return None


def _securing(facts: Json) -> Json | None:
    if not facts["users"]["wanted"] or facts["users"]["enabled"]:
        return None
    return _said("Renewing", "all members start anew, and ask for user and password then")


def _healthy(facts: Json) -> Json:
    members, target = len(facts["members"]), facts["target"]["version"]
    note = f"; {facts['note']}" if facts["note"] else ""
    return _said("Healthy", f"{members} members run {target}{note}")


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"etcdcluster_verdict": etcdcluster_verdict}
