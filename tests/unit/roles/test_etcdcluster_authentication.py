"""Which users an etcd cluster gets, when it asks for them, and whether the role is let in."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

Json = dict[str, Any]
FILE = "etcdcluster_authentication"

access = role_filter("etcdcluster", "etcdcluster_access", FILE)
operator = role_filter("etcdcluster", "etcdcluster_operator", FILE)
password = role_filter("etcdcluster", "etcdcluster_password", FILE)
new_password = role_filter("etcdcluster", "etcdcluster_new_password", FILE)
users = role_filter("etcdcluster", "etcdcluster_users", FILE)
user_env = role_filter("etcdcluster", "etcdcluster_user_env", FILE)
user_wrong = role_filter("etcdcluster", "etcdcluster_user_wrong", FILE)

WANTED = {"user": "operator-1", "secret": "db-root", "secretVersion": "7"}
ON = WANTED | {"enabled": True}
LET_IN = {"refused": False, "open": False}
OPEN = {"refused": False, "open": True}


def secret(**data: str) -> list[Json]:
    return [{"data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}}]


def test_user_of_the_secret_is_taken_and_else_a_new_one_that_nobody_guesses() -> None:
    known = secret(username="operator-1", password="x")
    assert operator(known, True, "") == {"user": "operator-1", "password": "x", "new": False}
    for unusable in ([], secret(), secret(username="operator-1"), [{"data": None}]):
        made, other = operator(unusable, True, ""), operator(unusable, True, "")
        assert made["new"]
        assert made["user"] != other["user"]
        assert made["password"] != other["password"]
        assert password(secret(password=made["password"])) == made["password"]


def test_no_new_user_is_made_while_members_that_know_the_old_one_may_answer_again() -> None:
    kept = operator([], False, "operator-1")
    assert kept == {"user": "operator-1", "password": "", "new": False}
    assert operator([], True, "operator-1")["new"]
    assert operator([], False, "")["new"], "of a cluster that starts"


def test_root_lets_the_role_in_again_and_is_replaced_by_a_user_of_its_own() -> None:
    written = secret(username="root", password="x")
    assert operator(written, False, "operator-1")["user"] == "root"
    assert operator(written, True, "operator-1")["user"].startswith("operator-")


@pytest.mark.parametrize("text", ["", "a b", "line\n", "\t", "x" * 73, "\u00e9" * 37])
def test_password_that_etcd_would_cut_off_is_refused(text: str) -> None:
    assert password(secret(password=text)) == ""


def test_password_may_be_as_long_as_etcd_looks_at_it() -> None:
    assert password(secret(password="x" * 72)) == "x" * 72
    assert password([]) == password([{}]) == password([{"data": {"password": "%"}}]) == ""
    assert len(new_password()) <= 72


@pytest.mark.parametrize(
    ("said", "quiet", "let_in", "todo"),
    [
        ({}, True, LET_IN, (True, True, "")),
        ({}, False, LET_IN, (False, False, "")),  # members still start anew
        (ON, True, LET_IN, (False, False, "")),
        (ON, True, OPEN, (True, True, "")),  # restored from a snapshot without users
        (ON | {"secretVersion": "6"}, True, LET_IN, (True, False, "")),
        (ON | {"secret": "mine"}, True, LET_IN, (True, False, "")),
        (ON | {"user": "operator-0"}, True, LET_IN, (False, False, "operator-0")),
        (ON | {"user": "operator-0"}, False, LET_IN, (False, False, "")),
        (ON | {"user": "root"}, True, LET_IN, (False, False, "")),  # never root
    ],
)
def test_what_is_to_do(said: Json, quiet: bool, let_in: Json, todo: tuple[Any, ...]) -> None:
    found = users(said, WANTED, quiet, let_in)
    assert (found["password"], found["enable"], found["drop"]) == todo
    expected = ON if quiet else said | {"enabled": bool(said)}
    assert found["told"] == expected


def test_cluster_that_lets_everybody_in_is_not_said_to_ask() -> None:
    assert users(ON, WANTED, False, OPEN)["told"]["enabled"] is False


def test_role_is_refused_only_where_no_member_lets_it_in() -> None:
    refused = {"stdout": "", "stderr": "Error: etcdserver: user name is empty"}
    wrong = {"stdout": "", "stderr": "authentication failed, invalid user ID or password"}
    silent = {"stdout": "", "stderr": "context deadline exceeded"}
    warned = {"stdout": "[]", "stderr": "desc = etcdserver: authentication is not enabled"}
    assert access([refused, wrong]) == {"refused": True, "open": False}
    assert access([refused, {"stdout": "[]", "stderr": ""}]) == LET_IN
    assert access([silent, {"skipped": True}]) == access([]) == LET_IN
    assert access([warned]) == OPEN


def test_words_of_etcdctl_are_told_and_nothing_where_it_took_the_user() -> None:
    exists = {"rc": 1, "stderr": "warn\nError: etcdserver: user name already exists\n"}
    assert user_wrong([exists, {"rc": 0, "stderr": ""}]) == ""
    assert user_wrong([{"rc": 0}, {"skipped": True}]) == ""
    assert user_wrong([exists, {"rc": 1, "stderr": "warn\nError: no space"}]) == "Error: no space"
    assert user_wrong([{"msg": "pod is gone"}]) == "pod is gone"


def test_password_is_in_no_template() -> None:
    env = user_env("db-operator")
    assert [each["name"] for each in env] == ["ETCDCTL_USER", "ETCDCTL_PASSWORD"]
    assert 'value"' not in json.dumps(env)
    assert all(each["valueFrom"]["secretKeyRef"]["optional"] for each in env), "a member starts"
