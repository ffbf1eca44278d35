"""A restore in place: what is done next, whatever the last run had got to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

FILE = "etcdcluster_restore"
word_of = role_filter("etcdcluster", "etcdcluster_restore_word", FILE)
attempt_of = role_filter("etcdcluster", "etcdcluster_restore_attempt", FILE)
told_of = role_filter("etcdcluster", "etcdcluster_restore_told", FILE)
note_of = role_filter("etcdcluster", "etcdcluster_restore_note", FILE)
old_of = role_filter("etcdcluster", "etcdcluster_restore_old", FILE)
way_out = role_filter("etcdcluster", "etcdcluster_restore_way_out", FILE)

NOW, THEN = "2027-01-15T08:00:00Z", "2027-01-15T07:00:00Z"
NAMES = ["db-0", "db-1", "db-2"]
MEMBERS = [{"name": name, "id": f"1{name[-1]}", "volume": f"v{name}"} for name in NAMES]
WELL: dict[str, Any] = {"members": MEMBERS}
WORD = word_of(WELL)


def asked(recover: str = WORD, snapshot: str = "a.db", empty: bool = False) -> dict[str, Any]:
    return {"recover": recover, "snapshot": snapshot, "empty": empty}


def claims(mark: str = "", names: list[str] = NAMES) -> list[dict[str, Any]]:
    marks = {"annotations": {"mycompany.com/restore": mark}} if mark else {}
    return [{"metadata": {"name": f"data-{name}", **marks}} for name in names]


def world(**changes: Any) -> dict[str, Any]:
    well = {
        "known": True,
        "set": True,
        "pods": [{}, {}, {}],
        "claims": claims(),
        "members": [{**member, "learner": False} for member in MEMBERS],
        "trial": "",
    }
    return well | changes


def at(state: str, **changes: Any) -> dict[str, Any]:
    last = {"request": WORD, "snapshot": "a.db", "backup": "old.db", "state": state, "time": THEN}
    return WELL | {"lastRestore": last | changes}


def done(said: dict[str, Any], **changes: Any) -> str:
    what: str = attempt_of(asked(), said, world(**changes))["do"]
    return what


def test_word_of_status_begins_a_trial_and_any_other_nothing() -> None:
    assert attempt_of(asked(), WELL, world())["do"] == "try"
    assert attempt_of(asked("restore-00000000"), WELL, world())["do"] == ""
    assert attempt_of(asked(""), WELL, world())["do"] == ""
    assert attempt_of(asked(snapshot=""), WELL, world())["do"] == ""
    # A new cluster has no word, and so none that the manifest could hold by accident.
    assert attempt_of(asked(word_of({})), {}, world(claims=[], members=[]))["do"] == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"known": False},
        {"members": world()["members"][:2]},
        {"members": [{**member, "learner": True} for member in MEMBERS]},
        {"pods": [{}, {}]},
    ],
)
def test_trial_waits_while_members_come_or_go(changes: dict[str, Any]) -> None:
    assert attempt_of(asked(), WELL, world(**changes))["do"] == ""


def test_nothing_is_stopped_before_status_says_that_the_snapshot_is_good() -> None:
    assert [done(at("Trying"), trial=state) for state in ("", "active")] == ["try", "try"]
    assert done(at("Trying"), trial="failed") == "refuse"
    assert done(at("Trying"), trial="succeeded") == "begin"
    attempt = attempt_of(asked(), at("Trying", backup=""), world(trial="succeeded"))
    told = told_of(attempt, at("Trying"), "db-before-1.db", NOW)
    assert (told["state"], told["backup"], told["time"]) == ("Restoring", "db-before-1.db", NOW)


def test_trial_that_is_taken_back_changes_nothing() -> None:
    for edit in (asked(""), asked(snapshot="b.db")):
        attempt = attempt_of(edit, at("Trying"), world(trial="succeeded"))
        assert (attempt["do"], "taken back" in attempt["message"]) == ("refuse", True)


def test_restore_goes_on_wherever_a_run_ended() -> None:
    new = claims(WORD)
    gone: dict[str, Any] = {"known": False, "set": False, "pods": []}
    steps = [
        world(),
        gone | {"pods": [{}]},
        gone,
        gone | {"claims": claims(names=NAMES[1:])},
        gone | {"claims": []},
        gone | {"claims": new[:1]},
        gone | {"claims": new},
        {"known": False, "claims": new},
        {"claims": new},
    ]
    found = [done(at("Restoring"), **step) for step in steps]
    assert found == ["stop", "stop", "clear", "clear", "fill", "fill", "fill", "fill", "finish"]
    # Not even an edit of the spec makes it forget that part of the data is gone.
    forgotten = [attempt_of(asked("", ""), at("Restoring"), world(**step))["do"] for step in steps]
    assert forgotten == found


def test_volume_that_goes_is_waited_for_and_never_taken_for_a_new_one() -> None:
    going = claims(names=["db-0"])
    going[0]["metadata"]["deletionTimestamp"] = THEN
    mixed = [*going, *claims(WORD, NAMES[1:])]
    assert done(at("Restoring"), known=False, set=False, pods=[], claims=mixed) == "clear"
    assert old_of(mixed, WORD) == ["data-db-0"]
    assert old_of(claims("restore-11111111"), WORD) == [f"data-{name}" for name in NAMES]


def test_same_request_is_never_done_twice() -> None:
    for state in ("Restored", "Refused"):
        # Also where members and volumes came out as they were.
        assert attempt_of(asked(), at(state), world())["do"] == ""
        again = word_of(at(state))
        assert again != WORD
        assert attempt_of(asked(again), at(state), world())["do"] == "try"
    replaced = [member | {"volume": "new"} for member in MEMBERS]
    assert word_of({"members": replaced}) != WORD


def test_fill_that_fails_for_good_can_be_given_up() -> None:
    attempt = attempt_of(asked(empty=True), at("Restoring"), world(known=False))
    assert attempt["do"] == "give_up"
    assert told_of(attempt, at("Restoring"), "", NOW)["state"] == "Refused"
    said = way_out(attempt, "12345678")
    assert "`empty-12345678`" in said
    assert "`old.db` has what was here before" in said
    assert way_out(attempt_of(asked(""), {}, world()), "12345678") == ""


def test_status_tells_once_when_a_restore_ended() -> None:
    attempt = attempt_of(asked(), at("Restoring"), world(claims=claims(WORD)))
    told = told_of(attempt, at("Restoring"), "", NOW)
    assert told == at("Restored", time=NOW)["lastRestore"] | {"message": ""}
    later = attempt_of(asked(), at("Restored"), world())
    assert told_of(later, at("Restored"), "", NOW)["time"] == THEN
    assert told_of(attempt_of(asked(""), WELL, world()), WELL, "", NOW) is None


def test_word_for_other_data_is_told_to_do_nothing() -> None:
    assert WORD in note_of("restore-00000000", WELL)
    assert note_of(WORD, WELL) == ""
    assert note_of(WORD, at("Restored")) == ""
    assert note_of("db-0-12345678", WELL) == ""


def test_snapshot_that_is_larger_than_the_quota_is_refused_before_anything_is_stopped() -> None:
    large = world(trial="succeeded", size=300 * 1024**2, quota=64 * 1024**2)
    attempt = attempt_of(asked(), at("Trying"), large)
    assert attempt["do"] == "refuse"
    assert "it has 300Mi, and the quota is 64Mi" in attempt["message"]
    assert done(at("Trying"), trial="succeeded", size=64, quota=64) == "begin"
