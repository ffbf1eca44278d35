"""Rights: what a request needs, whether a text names it, and what config/rbac gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rolecall.proxy import parse_request_info
from rolecall_dev.proving.checks.rights import names_right, refusing, right_of, said_by
from rolecall_dev.rbac import Right, granted_rights, is_granted
from rolecall_dev.staging import Traffic
from rolecall_dev.staging.traffic import refusal_of

PODS = Right("", "pods", "patch")
STATUS = Right("shop.example.com", "sites/status", "patch")
PATH = "/apis/apps/v1/namespaces/case-1/deployments/web"


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("PATCH", PATH, Right("apps", "deployments", "patch")),
        ("GET", PATH.removesuffix("/web"), Right("apps", "deployments", "list")),
        ("PATCH", f"{PATH}/status", Right("apps", "deployments/status", "patch")),
        ("DELETE", "/api/v1/nodes/n", Right("", "nodes", "delete")),
    ],
)
def test_request_needs_one_right(method: str, path: str, right: Right) -> None:
    assert right_of(parse_request_info(method, path)) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('User "x" cannot patch resource "pods" in API group ""', PODS),
        ("first line\nthe operator may not patch pods in namespace `a`", PODS),
        ("may not patch sites.shop.example.com/status", STATUS),
    ],
)
def test_text_about_a_right_names_it(text: str, right: Right) -> None:
    assert names_right(text, right)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("", PODS),
        ("cannot patch\nsomething of pods", PODS),
        ("dispatch of pods failed", PODS),
        ("patch of pods-of-mine failed", PODS),
        ("cannot patch sites", STATUS),
    ],
)
def test_text_about_something_else_does_not(text: str, right: Right) -> None:
    assert not names_right(text, right)


def test_operation_that_tries_again_for_a_while_names_the_right_before_it_has_failed() -> None:
    message = 'pods "m" is forbidden: User "x" cannot patch resource "pods" in API group ""'
    ready = {"type": "Ready", "status": "Unknown", "reason": "Running", "message": message}
    assert names_right(said_by({"status": {"conditions": [ready, {"type": "Running"}]}}), PODS)


def test_refusal_reads_as_the_api_server_writes_it() -> None:
    code, status = refusal_of(parse_request_info("PATCH", PATH))
    assert (code, status["reason"]) == (403, "Forbidden")
    assert status["message"] == (
        'deployments.apps "web" is forbidden: User "system:serviceaccount:test:operator" cannot patch'
        ' resource "deployments" in API group "apps" in the namespace "case-1"'
    )


def test_another_way_that_the_project_has_no_right_to_is_refused_as_well() -> None:
    patch, update = (Right("apps", "deployments", verb) for verb in ("patch", "update"))
    patched, updated, read = (
        parse_request_info(method, PATH) for method in ("PATCH", "PUT", "GET")
    )
    granted = frozenset({patch, Right("apps", "deployments", "get")})
    refused = refusing(patch, granted)
    assert [refused(each) for each in (patched, updated, read)] == [True, True, False]
    assert not refusing(patch, granted | {update})(updated)
    assert not refusing(patch, frozenset())(updated)


def test_taken_right_refuses_the_engine_as_well() -> None:
    traffic = Traffic("case-1")
    traffic.takes_right = lambda info: info.verb == "patch"
    seen = [
        traffic.note(method, parse_request_info(method, PATH), "", is_play=is_play, at_s=0.0)
        for method, is_play in (("PATCH", True), ("PATCH", False), ("GET", True))
    ]
    assert [traffic.refuses(each) for each in seen] == [True, True, False]
    assert traffic.refused == seen[:2]


def test_rights_of_bound_roles_are_given_and_no_others(tmp_path: Path) -> None:
    def role(name: str, verb: str, **annotations: str) -> dict[str, object]:
        return {
            "kind": "Role",
            "metadata": {"name": name, "annotations": annotations},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}],
        }

    def binding(name: str) -> dict[str, object]:
        subjects = [{"kind": "ServiceAccount", "name": "operator"}]
        return {
            "kind": "RoleBinding",
            "roleRef": {"kind": "Role", "name": name},
            "subjects": subjects,
        }

    because = {"rolecall.dev/because": "loops"}
    documents = [
        role("manager", "get"),
        role("looped", "delete", **because),
        role("for-people", "list"),
        binding("manager"),
        binding("looped"),
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(documents))
    given = granted_rights(tmp_path)
    assert given == {Right("", "pods", "get"), Right("", "pods", "delete")}
    assert is_granted(given, Right("", "pods", "get"))
    assert not is_granted(given, Right("", "pods", "list"))
    assert not granted_rights(tmp_path / "missing")


def test_star_grants_everything() -> None:
    assert is_granted([Right("*", "*", "*")], Right("apps", "deployments/status", "patch"))
