from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.watches import Play
from rolecall.watches.locate import find_role, playbook_path, role_candidates


def make(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)


def test_absolute_role_is_taken_as_it_is(tmp_path: Path) -> None:
    make(tmp_path / "anywhere/demo")

    found = find_role(f"{tmp_path}/anywhere/demo", {}, Path("/elsewhere"))

    assert found == Play(tmp_path / "anywhere/demo", is_role=True)


def test_trailing_slash_does_not_empty_the_roles_name(tmp_path: Path) -> None:
    make(tmp_path / "roles/demo")

    for value in (f"{tmp_path}/roles/demo/", "demo/"):
        found = find_role(value, {}, tmp_path)
        assert found is not None
        assert found.path.name == "demo"


def test_roles_path_goes_before_the_working_directory(tmp_path: Path) -> None:
    make(tmp_path / "roles/demo", tmp_path / "first/roles/demo", tmp_path / "second/demo")
    environment = {"ANSIBLE_ROLES_PATH": f"{tmp_path}/first:second"}

    assert [candidate.path for candidate in role_candidates("demo", environment, tmp_path)] == [
        tmp_path / "first/demo",
        tmp_path / "first/roles/demo",
        tmp_path / "second/demo",
        tmp_path / "second/roles/demo",
        tmp_path / "roles/demo",
    ]
    assert find_role("demo", environment, tmp_path) == Play(tmp_path / "first/roles/demo", True)


def test_role_name_may_contain_slashes(tmp_path: Path) -> None:
    make(tmp_path / "roles/group/demo")

    assert find_role("group/demo", {}, tmp_path) == Play(tmp_path / "roles/group/demo", True)


@pytest.mark.parametrize("value", ["demo", "./demo"])
def test_folder_in_the_working_directory_is_no_role(value: str, tmp_path: Path) -> None:
    make(tmp_path / "demo")

    assert find_role(value, {}, tmp_path) is None


def test_file_is_no_role_and_does_not_hide_one(tmp_path: Path) -> None:
    make(tmp_path / "roles/demo", tmp_path / "other")
    (tmp_path / "other/demo").write_text("")

    found = find_role("demo", {"ANSIBLE_ROLES_PATH": "other"}, tmp_path)

    assert found == Play(tmp_path / "roles/demo", is_role=True)


def test_collection_role_keeps_its_full_name(tmp_path: Path) -> None:
    role = tmp_path / "ansible_collections/acme/web/roles/site"
    make(role)

    found = find_role("acme.web.site", {"ANSIBLE_COLLECTIONS_PATH": f"/no:{tmp_path}"}, tmp_path)

    assert found == Play(role, is_role=True, fqcn="acme.web.site")


def test_default_collections_path_is_left_alone_where_one_is_set(tmp_path: Path) -> None:
    make(tmp_path / ".ansible/collections/ansible_collections/acme/web/roles/site")
    home = {"HOME": str(tmp_path)}

    assert find_role("acme.web.site", home, tmp_path) is not None
    assert find_role("acme.web.site", home | {"ANSIBLE_COLLECTIONS_PATH": ""}, tmp_path) is not None
    assert find_role("acme.web.site", home | {"ANSIBLE_COLLECTIONS_PATH": "/no"}, tmp_path) is None


def test_three_part_name_in_a_roles_folder_is_an_ordinary_role(tmp_path: Path) -> None:
    make(tmp_path / "roles/acme.web.site")

    found = find_role("acme.web.site", {"ANSIBLE_COLLECTIONS_PATH": "/no"}, tmp_path)

    assert found == Play(tmp_path / "roles/acme.web.site", is_role=True, fqcn="")


def test_messages_name_where_a_place_came_from(tmp_path: Path) -> None:
    candidates = role_candidates("demo", {"ANSIBLE_ROLES_PATH": "/opt/roles"}, tmp_path)

    assert [candidate.shown(tmp_path) for candidate in candidates] == [
        "/opt/roles/demo (from ANSIBLE_ROLES_PATH)",
        "/opt/roles/roles/demo (from ANSIBLE_ROLES_PATH)",
        "./roles/demo",
    ]


def test_relative_playbook_is_joined_to_the_working_directory(tmp_path: Path) -> None:
    assert playbook_path("./x/../demo.yml", tmp_path) == tmp_path / "demo.yml"
    assert playbook_path("/opt/demo.yml", tmp_path) == Path("/opt/demo.yml")
