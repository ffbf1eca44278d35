"""Bad input: one clear line, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.cli import main
from tests.unit.scaffold.conftest import create_api, files


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--domain", "Example.com"], "domain `Example.com` is not a DNS name"),
        (["--domain", ""], "domain `` is not a DNS name"),
        (["--project-name", "My_Op"], "project name `My_Op` is not a DNS label"),
        (["--project-name", "a" * 29], "29 characters; 28 are possible"),
        (["--plugins", "go/v4"], "plugin `go/v4` is not known"),
        (["--kind", "Memcached"], "`--version` is needed"),
        (["--version", "v1", "--kind", "memcached"], "--kind Memcached"),
        (["--version", "1", "--kind", "Memcached"], "version `1` is not one such as `v1`"),
        (["--version", "v1", "--kind", "Mem-cached"], "--kind MemCached"),
        (["--version", "v1", "--kind", "K" * 60], "60 characters; 59 are possible"),
        (["--version", "v1", "--kind", "A", "--group", "a_b"], "group `a_b` is not a DNS name"),
        (["--version", "v1", "--kind", "A", "--plural", "Bs"], "plural `Bs` is not a DNS label"),
        (["--version", "v1", "--kind", "A", "--crd-version", "v1beta1"], "CRD version `v1beta1`"),
        (["--domain", "k8s.io", "--version", "v1", "--kind", "A", "--group", "x"], "Kubernetes"),
        (["--domain", "local", "--version", "v1", "--kind", "A"], "has no dot"),
    ],
)
def test_illegal_name_is_reported_and_nothing_is_written(
    folder: Path, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *flags]) == 2
    assert said in capsys.readouterr().err
    assert files(folder) == {}


def test_second_init_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(project)
    assert main(["init", "--domain", "example.org"]) == 2
    assert "is a project already" in capsys.readouterr().err
    assert files(project) == before


def test_files_that_are_there_are_named_and_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "Makefile").write_text("mine:\n")
    assert main(["init", "--domain", "example.com"]) == 2
    assert "these files are there already:\n  Makefile\n" in capsys.readouterr().err
    assert files(folder) == {"Makefile": b"mine:\n"}
    assert main(["init", "--domain", "example.com", "--force"]) == 0
    assert b"mine" not in files(folder)["Makefile"]


def test_kind_that_is_there_is_refused_and_forced(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create_api() == 0
    before = files(project)
    assert create_api() == 2
    assert "is in PROJECT already" in capsys.readouterr().err
    assert create_api("--force") == 0
    assert files(project) == before


def test_second_group_must_be_wanted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert create_api() == 0
    names = ["--group", "web", "--version", "v1", "--kind", "Site"]
    assert main(["create", "api", *names]) == 2
    assert "add `multigroup: true` to PROJECT" in capsys.readouterr().err
    (project / "PROJECT").write_text((project / "PROJECT").read_text() + "multigroup: true\n")
    assert main(["create", "api", *names]) == 0
    assert (project / "config" / "rbac" / "web_site_admin_role.yaml").is_file()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('version: "4"\nlayout: [x]\n', "layout version `4`, and only `3` is understood"),
        ('version: "3"\nlayout: [go.kubebuilder.io/v4]\n', "layout `go.kubebuilder.io/v4`"),
        ("- a\n", "PROJECT must be a map"),
        ("a: [\n", "PROJECT is not valid YAML"),
    ],
)
def test_foreign_project_file_is_refused(
    project: Path, content: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "PROJECT").write_text(content)
    before = files(project)
    assert create_api() == 2
    assert said in capsys.readouterr().err
    assert files(project) == before


@pytest.mark.parametrize(
    "content",
    ["[{version: v1, group: a.b, kind: A, role: a}]\n", "{}\n", "- a: [\n", "--- []\n--- []\n"],
)
def test_watches_that_cannot_be_extended_are_left_alone(
    project: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "watches.yaml").write_text(content)
    before = files(project)
    assert create_api() == 2
    assert "watches.yaml" in capsys.readouterr().err
    assert files(project) == before


def test_create_api_outside_of_a_project_says_how_to_start_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create_api() == 2
    assert "hint: `rolecall init --domain example.com` starts one" in capsys.readouterr().err
    assert files(folder) == {}


def test_failure_half_way_leaves_what_was_there(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rolecall_dev.scaffold import changes  # noqa: PLC0415

    before = files(project)
    folders = sorted(path for path in project.rglob("*") if path.is_dir())
    replace, calls = changes._replace, []

    def failing(file: Path, content: bytes) -> None:
        calls.append(file)
        if len(calls) == 9:
            raise OSError(28, "No space left on device")
        replace(file, content)

    monkeypatch.setattr(changes, "_replace", failing)
    assert create_api() == 2
    assert "No space left on device" in capsys.readouterr().err
    assert files(project) == before
    assert sorted(path for path in project.rglob("*") if path.is_dir()) == folders
