"""Text of a CR is never a template, on the real ansible-core; see decision 0013."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.play.plays import Played, Workspace, play


def evil_text(touched: Path) -> str:
    """Makes a file when it is templated."""
    return f"{{{{ lookup('ansible.builtin.pipe', 'touch {touched}') }}}}"


def hostile_cr(touched: Path) -> dict[str, Any]:
    """A CR whose every text would make a file if anything templated it."""
    evil = evil_text(touched)
    deep: Any = {"end": evil}
    for _ in range(60):
        deep = [deep]
    spec = {
        "text": evil,
        "nested": [[{"x": [evil, 1, None]}]],
        # The spaces would not survive snake case, and the template would be broken by chance.
        "keyed": {evil.replace(" ", "\t"): 1, "k{% raw %}": evil, "empty": ""},
        "big": "x" * 999_998 + "{{",
        "letters": "ü😀",
        "tagged": "!unsafe {{ 1 + 1 }}",
        "deep": deep,
        evil: evil,
        "{{ blank }}": 1,
        "": 1,
        " ": 2,
        # Names that mean something to Ansible.
        **dict.fromkeys(
            (
                "ansibleConnection",
                "ansible_python_interpreter",
                "ansible_shell_executable",
                "hostvars",
                "vars",
                "environment",
                "item",
                "omit",
                "no_log",
                "tags",
            ),
            evil,
        ),
    }
    return {
        "spec": spec,
        "metadata": {"annotations": {f"note/{evil}": evil}, "labels": {"a": evil}},
        "more": {"status": {"conditions": [{"message": evil}]}},
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Path]:
    """One run over such a CR; the path is the file that must not appear."""
    folder = tmp_path_factory.mktemp("hostile")
    touched = folder / "touched"
    played = play(
        Workspace(folder),
        "hostile",
        vars={"from_vars": "{{ ansible_operator_meta.name }} {{ text }} {{ 1 + 1 }}"},
        **hostile_cr(touched),
    )
    return played, touched


def test_nothing_of_a_hostile_cr_is_executed(hostile: tuple[Played, Path]) -> None:
    played, touched = hostile
    assert played.result.succeeded, played.stdout[-3000:]
    assert not touched.exists()


def test_roles_get_the_text_as_it_was_written(hostile: tuple[Played, Path]) -> None:
    played, touched = hostile
    ((text, nested, status, _, again),) = played.messages("show what came")
    evil = evil_text(touched)
    assert text == again == evil
    assert nested == [[{"x": [evil, 1, None]}]]
    assert status == {"conditions": [{"message": evil}]}


def test_vars_of_the_watch_stay_templates(hostile: tuple[Played, Path]) -> None:
    played, _ = hostile
    (message,) = played.messages("templates of the watch may use it")
    assert message.startswith("shop {{ lookup(")
    assert message.endswith(" 2")


@pytest.mark.parametrize("key", ["__ansible_unsafe", "__ansible_vault"])
def test_keys_that_ansible_reserves_open_no_way_around(workspace: Workspace, key: str) -> None:
    # In JSON, the first of them with a number makes Ansible read the whole file as YAML, where
    # nothing would be marked.
    touched = workspace.folder / "touched"
    spec = hostile_cr(touched)["spec"] | {"reserved": {key: 5, "x": hostile_cr(touched)["spec"]}}
    more: Any = {"more": {"status": {}}, "metadata": {"annotations": {}}}
    result = play(workspace, "hostile", spec, vars={"from_vars": "x"}, **more).result
    assert result.succeeded, result
    assert not touched.exists()


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "odd", [{"__ansible_type": "x"}, _nested(300), _nested(400)], ids=["type", "300", "400"]
)
def test_what_ansible_cannot_read_as_json_opens_no_way_around(
    workspace: Workspace, odd: Any
) -> None:
    # Where Ansible gives up on the JSON, it reads the file as YAML, where nothing was marked.
    touched = workspace.folder / "touched"
    spec = {"text": evil_text(touched), "nested": 1, "keyed": {}, "big": "", "letters": ""}
    more: Any = {"more": {"status": {}}, "metadata": {"annotations": {}}}
    play(workspace, "hostile", spec | {"deep": odd}, vars={"from_vars": "x"}, **more)
    assert not touched.exists()


def test_a_watch_that_trusts_its_crs_gets_the_old_way(workspace: Workspace) -> None:
    spec = {"text": "{{ 6 * 7 }}", "nested": 1, "keyed": {}, "deep": [], "big": "", "letters": ""}
    played = play(
        workspace,
        "hostile",
        spec,
        mark_unsafe=False,
        more={"status": {}},
        metadata={"annotations": {}},
    )
    ((text, *_),) = played.messages("show what came")
    assert str(text) == "42"
