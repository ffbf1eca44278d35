"""Where roles and collections are looked up: the same for lookups here and for plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.watches import search_paths
from rolecall.watches.locate import find_role


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for path in (".collections/ansible_collections", "collections/ansible_collections", "roles"):
        (folder / path).mkdir(parents=True)
    return folder


def collections(project: Path, environment: dict[str, str]) -> tuple[list[str], str]:
    found = search_paths(environment, project, project).collections
    return [str(place.path) for place in found.places], found.setting


def test_what_lies_beside_the_watches_is_found_before_the_defaults(
    project: Path, home: Path
) -> None:
    found, setting = collections(project, {"HOME": str(home)})
    assert found == [
        f"{project}/.collections",
        f"{project}/collections",
        f"{home}/.ansible/collections",
        "/usr/share/ansible/collections",
    ]
    assert setting == ":".join(found)


def test_environment_goes_first_and_defaults_are_left_out_then(project: Path, home: Path) -> None:
    given = {
        "HOME": str(home),
        "ANSIBLE_COLLECTIONS_PATH": f"/opt/c::vendor:{project}/collections/",
    }
    found, setting = collections(project, given)
    assert found == [
        "/opt/c",
        f"{project}/vendor",
        f"{project}/collections",
        f"{project}/.collections",
    ]
    assert setting == ":".join(found)


@pytest.mark.parametrize("where", ["home/.ansible.cfg", "named.cfg", "project/ansible.cfg"])
def test_ansible_cfg_goes_before_what_lies_beside(
    tmp_path: Path, project: Path, home: Path, where: str
) -> None:
    (tmp_path / where).write_text("[defaults]\ncollections_path = ./mine:~/theirs ; both\n")
    named = {"ANSIBLE_CONFIG": str(tmp_path / where)} if where == "named.cfg" else {}
    found, _ = collections(project, {"HOME": str(home), **named})
    assert found == [
        str((tmp_path / where).parent / "mine"),
        f"{home}/theirs",
        f"{project}/.collections",
        f"{project}/collections",
    ]


def test_ansible_is_left_to_itself_where_nothing_is_to_be_added(tmp_path: Path, home: Path) -> None:
    (home / ".ansible.cfg").write_text("[defaults]\nroles_path = /opt/roles\n")
    found = search_paths({"HOME": str(home)}, tmp_path, tmp_path)
    assert found.roles.shown() == "/opt/roles"
    assert (found.roles.setting, found.collections.setting) == ("", "")


def test_folder_of_requirements_alone_holds_no_collections(tmp_path: Path) -> None:
    (tmp_path / "collections").mkdir()
    assert search_paths({}, tmp_path, tmp_path).collections.setting == ""


@pytest.mark.parametrize("text", ["[defaults\n", "no section = 1\n", "[defaults]\n[defaults]\n"])
def test_configuration_that_cannot_be_read_says_nothing(
    project: Path, home: Path, text: str
) -> None:
    (home / ".ansible.cfg").write_text(text)
    found, _ = collections(project, {"HOME": str(home)})
    assert found[0] == f"{project}/.collections"


def test_role_beside_the_watches_is_found_from_anywhere(
    tmp_path: Path, project: Path, home: Path
) -> None:
    (project / "roles" / "web").mkdir()
    environment = {"HOME": str(home)}
    assert find_role("web", environment, tmp_path) is None
    found = find_role("web", environment, tmp_path, project)
    assert found is not None
    assert found.path == project / "roles" / "web"


def test_role_of_a_collection_beside_the_watches_is_found(project: Path, home: Path) -> None:
    role = project / ".collections/ansible_collections/acme/web/roles/site"
    role.mkdir(parents=True)
    for environment in ({"HOME": str(home)}, {"ANSIBLE_COLLECTIONS_PATH": "/opt/c"}):
        found = find_role("acme.web.site", environment, project)
        assert found is not None
        assert (found.path, found.fqcn) == (role, "acme.web.site")


def test_roles_path_of_ansible_cfg_comes_after_the_go_operators_places(
    project: Path, home: Path
) -> None:
    (home / ".ansible.cfg").write_text(f"[defaults]\nroles_path = {home}/more\n")
    (home / "more" / "web").mkdir(parents=True)
    environment = {"HOME": str(home)}
    found = find_role("web", environment, project)
    assert found is not None
    assert found.path == home / "more" / "web"
    (project / "roles" / "web").mkdir()
    found = find_role("web", environment, project)
    assert found is not None
    assert found.path == project / "roles" / "web"
