"""Collections that a project wants: found, whole, and of the version that was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.watches import Play, collection_faults, search_paths
from rolecall.watches.versions import satisfies

ROLE = """\
- name: see what is there
  block:
    - acme.web.site:
        labels: {not.a.module: x}
      loop: []
  rescue:
    - ansible.builtin.debug: {}
    - operator_sdk.util.k8s_status: {}
"""


class Workshop:
    """A project with one role, and what is installed beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.role = folder / "roles" / "demo"
        (self.role / "tasks").mkdir(parents=True)

    def requires(self, *entries: Any) -> None:
        (self.folder / "requirements.yml").write_text(yaml.safe_dump({"collections": [*entries]}))

    def uses(self, tasks: str) -> None:
        (self.role / "tasks" / "main.yml").write_text(tasks)

    def installs(self, version: str = "1.2.3", *files: str) -> Path:
        collection = self.folder / ".collections/ansible_collections/acme/web"
        (collection / "plugins").mkdir(parents=True)
        entries = [{"name": name} for name in ("plugins", *files, "tests/unit.py")]
        (collection / "FILES.json").write_text(json.dumps({"files": entries}))
        info = {"collection_info": {"version": version}}
        (collection / "MANIFEST.json").write_text(json.dumps(info))
        return collection

    def said(self, *, missing: bool = False) -> list[str]:
        search = search_paths({}, self.folder, self.folder).collections
        faults = collection_faults(self.folder, [Play(self.role, True)], search, [])
        found, other = faults.missing, faults.broken
        if not missing:
            found, other = other, found
        assert other == ()
        return [str(problem) for problem in found]


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_collection_that_is_whole_is_not_spoken_of(workshop: Workshop) -> None:
    workshop.installs()
    workshop.uses(ROLE)
    workshop.requires({"name": "acme.web", "version": ">=1.0.0,<2.0.0"}, "acme.web")
    assert workshop.said() == []


@pytest.mark.parametrize("entry", ["acme.web", "acme.web:1.2.3", {"name": "acme.web"}])
def test_collection_of_the_requirements_that_is_missing_is_named_with_the_way_out(
    workshop: Workshop, entry: Any
) -> None:
    workshop.requires({"name": "https://example.com/x.git", "type": "git"}, entry)
    (said,) = workshop.said(missing=True)
    assert said.startswith("requirements.yml:")
    assert "collection `acme.web` was not found" in said
    assert "`ansible-galaxy collection install -r requirements.yml -p .collections`" in said


def test_collection_that_only_a_task_names_is_reported_with_its_line(workshop: Workshop) -> None:
    workshop.uses(ROLE)
    (said,) = workshop.said(missing=True)
    assert said.startswith("roles/demo/tasks/main.yml:3: warning: collection `acme.web` was not")
    assert "`ansible-galaxy collection install acme.web -p .collections`" in said


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("MANIFEST.json", "neither MANIFEST.json nor galaxy.yml"),
        ("plugins", "`plugins` is not there"),
        ("plugins/modules/site.py", "`plugins/modules/site.py` is not there"),
    ],
)
def test_half_installed_collection_is_reported(workshop: Workshop, broken: str, says: str) -> None:
    collection = workshop.installs("1.2.3", "plugins/modules/site.py")
    (collection / "plugins" / "modules").mkdir()
    site = collection / "plugins/modules/site.py"
    site.touch()
    workshop.requires("acme.web")
    assert workshop.said() == []
    if broken == "plugins":
        (collection / "FILES.json").write_text('{"files": [{"name": "plugins"}]}')
        site.unlink()
        (collection / "plugins" / "modules").rmdir()
        (collection / broken).rmdir()
    else:
        (collection / broken).unlink()
    (said,) = workshop.said()
    assert "is not installed completely" in said
    assert says in said
    assert "--force` installs it again" in said


def test_manifest_that_was_cut_off_is_reported(workshop: Workshop) -> None:
    (workshop.installs() / "MANIFEST.json").write_text('{"collection_info": {')
    workshop.requires("acme.web")
    assert "its MANIFEST.json cannot be read" in workshop.said()[0]


def test_sources_of_a_collection_do_with_galaxy_yml(workshop: Workshop) -> None:
    collection = workshop.installs()
    (collection / "MANIFEST.json").unlink()
    (collection / "galaxy.yml").write_text("version: 3.0.0\n")
    workshop.requires({"name": "acme.web", "version": "2.0.0"})
    assert "is version 3.0.0, but 2.0.0 is required" in workshop.said()[0]


def test_collection_of_another_version_is_reported(workshop: Workshop) -> None:
    workshop.installs("1.2.3")
    workshop.requires({"name": "acme.web", "version": ">=2.0.0"})
    (said,) = workshop.said()
    assert said.startswith("requirements.yml:2: warning: ")
    assert "is version 1.2.3, but >=2.0.0 is required" in said


@pytest.mark.parametrize(
    ("version", "wanted", "does"),
    [
        ("1.2.3", "*", True),
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "==1.2.4", False),
        ("1.10.0", ">=1.9.0,<2.0.0", True),
        ("2.0.0-beta.1", "<2.0.0", True),
        ("2.0.0-beta.10", ">2.0.0-beta.9", True),
        ("1.2.3", "!=1.2.3", False),
        ("1.2.3+build", "=1.2.3", True),
        ("odd", ">=1.0.0", True),
        ("1.2.3", "main", True),
    ],
)
def test_versions_sort_as_galaxy_sorts_them(version: str, wanted: str, does: bool) -> None:
    assert satisfies(version, wanted) is does


def test_collection_that_only_redirects_to_another_is_whole(workshop: Workshop) -> None:
    collection = workshop.installs("2.0.1")
    (collection / "plugins").rmdir()
    (collection / "FILES.json").write_text(json.dumps({"files": []}))
    workshop.requires("acme.web")
    assert "neither plugins nor roles" in workshop.said()[0]
    (collection / "meta").mkdir()
    (collection / "meta" / "runtime.yml").write_text("plugin_routing: {}\n")
    assert workshop.said() == []
