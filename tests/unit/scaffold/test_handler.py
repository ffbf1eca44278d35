"""`rolecall create handler`: a file of handlers with its test; other files keep what they had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from rolecall.cli import main
from rolecall.errors import InputError
from rolecall_dev.scaffold.yaml_maps import with_key
from tests.unit.scaffold.conftest import create_api, files, problems_of_check

SDK_PROJECT = Path(__file__).parents[2] / "e2e" / "project"
CRD = "config/crd/bases/cache.example.com_memcacheds.yaml"
FIELD = "checkedGeneration"
PRESERVE = "              x-kubernetes-preserve-unknown-fields: true\n"
MADE = {
    "handlers/memcached.py",
    "requirements.txt",
    "tests/test_memcached_handler.py",
    "watches.yaml",
}


@pytest.fixture
def kind(project: Path) -> Path:
    """A project with a kind."""
    assert create_api() == 0
    return project


def create_handler(*flags: str, kind: str = "Memcached") -> int:
    return main(["create", "handler", "--kind", kind, *flags])


def changed(before: dict[str, bytes], folder: Path) -> set[str]:
    return {path for path, content in files(folder).items() if content != before.get(path)}


def test_handler_comes_with_its_test_and_passes_the_check(kind: Path) -> None:
    before = files(kind)
    assert create_handler() == 0
    assert changed(before, kind) == MADE
    assert problems_of_check() == []
    for path in ("handlers/memcached.py", "tests/test_memcached_handler.py"):
        compile((kind / path).read_text(), path, "exec")
        assert "<<" not in (kind / path).read_text()


def test_watch_gets_one_line_and_keeps_its_comments(kind: Path) -> None:
    watches = kind / "watches.yaml"
    text = watches.read_text().replace(
        "  role: memcached\n",
        "  role: memcached  # ours\n  vars:\n    text: |\n      - no key: here\n  # the end\n",
    )
    watches.write_text(text)
    assert create_handler() == 0
    line = "  handlers: handlers/memcached.py\n"
    assert watches.read_text().replace(line, "") == text
    assert yaml.safe_load(watches.read_text())[0]["handlers"] == "handlers/memcached.py"


def test_status_that_is_typed_gets_the_field_in_each_version(kind: Path) -> None:
    crd = kind / CRD
    crd.write_text(crd.read_text().replace(PRESERVE, "", 1).replace("status:\n", "status: # b\n"))
    assert create_api(version="v1beta1") == 0
    text = crd.read_text()
    assert create_handler() == 0
    after = yaml.safe_load(crd.read_text())
    for version in after["spec"]["versions"]:
        added = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
        assert added.pop(FIELD)["type"] == "integer"
    assert after == yaml.safe_load(text)
    assert set(text.splitlines()) <= set(crd.read_text().splitlines())


def test_crd_without_status_gets_one(kind: Path) -> None:
    crd = kind / CRD
    data = yaml.safe_load(crd.read_text())
    del data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    crd.write_text(yaml.safe_dump(data))
    assert create_handler() == 0
    schema = yaml.safe_load(crd.read_text())["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["status"]["x-kubernetes-preserve-unknown-fields"] is True


def test_requirements_that_are_there_stay(kind: Path) -> None:
    (kind / "requirements.txt").write_text("aiohttp\n")
    assert create_handler() == 0
    assert (kind / "requirements.txt").read_text() == "aiohttp\n"


def test_forced_second_handler_changes_nothing_and_replaces_what_was_edited(kind: Path) -> None:
    assert create_handler() == 0
    before = files(kind)
    (kind / "handlers" / "memcached.py").write_text("import kopf\n")
    assert create_handler("--force") == 0
    assert files(kind) == before


def test_kind_of_two_groups_is_named_with_its_group(
    kind: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kind / "PROJECT").write_text((kind / "PROJECT").read_text() + "multigroup: true\n")
    names = ["--group", "web", "--version", "v1", "--kind", "Memcached"]
    assert main(["create", "api", *names, "--force"]) == 0
    assert create_handler() == 2
    assert "hint: name one with `--group` or `--version`" in capsys.readouterr().err
    assert create_handler("--group", "web") == 0
    text = (kind / "handlers" / "memcached.py").read_text()
    assert '@kopf.timer("memcacheds.web.example.com", ' in text
    rows = yaml.safe_load((kind / "watches.yaml").read_text())
    assert [row["group"] for row in rows if "handlers" in row] == ["web.example.com"]
    assert problems_of_check() == []


def test_project_of_the_sdk_is_warned_of_what_its_dockerfile_lacks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SDK_PROJECT, folder, dirs_exist_ok=True)
    (folder / "Dockerfile").write_text("FROM rolecall\nCOPY roles/ ${HOME}/roles/\n")
    assert create_handler() == 0
    assert "add `COPY handlers/ ${HOME}/handlers/`" in capsys.readouterr().out


def test_new_dockerfile_copies_handlers_without_a_word(
    kind: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create_handler() == 0
    assert "Dockerfile" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("watches.yaml", "[]\n", "does not watch kind `Memcached`\nhint: it watches nothing"),
        ("watches.yaml", "- a: [\n", "watches.yaml is not valid YAML"),
        ("watches.yaml", "{}\n", None),
        ("watches.yaml", "a: b\n", "watches.yaml must be a list"),
        ("watches.yaml", None, "watches.yaml is not there"),
        ("handlers/memcached.py", "", "are there already:\n  handlers/memcached.py\n"),
        ("tests/test_memcached_handler.py", "", "hint: `--force` replaces them"),
        (CRD, None, "config/crd/bases has no CRD of kind `Memcached`"),
        ("config/samples/cache_v1alpha1_memcached.yaml", None, "config/samples has no sample"),
    ],
)
def test_what_is_in_the_way_is_named_and_nothing_is_written(
    kind: Path,
    path: str,
    content: str | None,
    said: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (kind / path).parent.mkdir(exist_ok=True)
    if content is None:
        (kind / path).unlink()
    else:
        (kind / path).write_text(content)
    before = files(kind)
    assert create_handler() == 2
    assert (said or "does not watch kind `Memcached`") in capsys.readouterr().err
    assert files(kind) == before


@pytest.mark.parametrize("flags", [(), ("--force",)])
def test_other_handlers_of_the_watch_stay(
    kind: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with (kind / "watches.yaml").open("a") as watches:
        watches.write("  handlers: [handlers/other.py]\n")
    before = files(kind)
    assert create_handler(*flags) == 2
    assert "has `handlers` already: ['handlers/other.py']" in capsys.readouterr().err
    assert files(kind) == before


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: 1\n# end\n", ("b",), "a: 1\nb: x\n# end\n"),
        ("- a: 1\n- c: 2\n", (0, "b"), "- a: 1\n  b: x\n- c: 2\n"),
        ("a:\n    c: |\n      text\n", ("a", "b"), "a:\n    c: |\n      text\n    b: x\n"),
        ("a: 1\n", ("b", "c"), "a: 1\nb:\n  c: x\n"),
        ("a: {c: 1}\nd: 2\n", ("e",), "a: {c: 1}\nd: 2\ne: x\n"),
        ("a: 1", ("b",), "a: 1\nb: x\n"),
        ("b: y\n", ("b",), "b: y\n"),
    ],
)
def test_key_joins_the_map_and_the_rest_stays(
    before: str, path: tuple[str | int, ...], after: str
) -> None:
    assert with_key(before, "some.yaml", path, "x") == after


@pytest.mark.parametrize("content", ["- {a: 1}\n", "- &m\n  a: 1\n- <<: *m\n", "- - a\n"])
def test_map_that_would_have_to_be_rewritten_is_refused(content: str) -> None:
    with pytest.raises(InputError, match=r"some\.yaml .* without rewriting it") as caught:
        with_key(content, "some.yaml", (0, "b"), "x")
    assert "b: x" in str(caught.value.hint)
