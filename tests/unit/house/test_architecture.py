"""The architecture page cannot say what the code does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.architecture import Code, room_faults, way_faults, written
from tools.imports import Package

MODULES = {
    "__init__": "",
    "app": "from eng.inlet import Inlet\nfrom eng.store import Store",
    "inlet/__init__": "from eng.inlet.tap import Inlet\n\n__all__ = ['Inlet']",
    "inlet/tap": "from eng.inlet.stream import read\n\nclass Inlet: ...",
    "inlet/stream": "def read(): ...",
    "store/__init__": "from eng.store.files import Store\n\n__all__ = ['Store']",
    "store/files": "class Store: ...",
    "store/child": "PROGRAM = FOLDER / 'worker' / '__main__.py'",
    "worker/__init__": "",
    "worker/__main__": "import sys",
}
ROWS = "| `inlet` | 5 | in |\n| `store` | 5 | keep |\n| `worker` | 1 | work |\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        path = tmp_path / "eng" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path / "eng"


def way(*lines: str) -> str:
    return "\n".join(["```way", *lines, "```", ""])


def test_page_that_is_right_is_let_pass(package: Path) -> None:
    assert not list(room_faults(ROWS, [package]))


def test_room_without_a_row_and_row_without_a_room_are_reported(package: Path) -> None:
    said = list(room_faults(ROWS.replace("store", "stores"), [package]))
    assert said == ["room store has no row", "there is no room stores"]


def test_room_that_grew_is_reported(package: Path) -> None:
    (package / "store" / "more.py").write_text("x = 1\n" * 150)
    assert list(room_faults(ROWS, [package])) == ["room store has 155 lines, not 5: --write"]
    assert "| `store` | 160 | keep |" in written(ROWS, [package], Code(Package(package)))


@pytest.mark.parametrize(
    ("one", "arrow", "other"),
    [
        ("inlet/tap.py", "uses", "inlet/stream.py"),
        ("inlet/stream.py", "is used by", "inlet/tap.py"),
        ("app.py", "uses", "store/files.py"),  # over what the room exports
        ("inlet/stream.py", "is connected by app to", "store/files.py"),
        ("store/child.py", "starts the process of", "worker/__main__.py"),
    ],
)
def test_arrow_is_what_the_code_says(package: Path, one: str, arrow: str, other: str) -> None:
    code = Code(Package(package))
    page = written(way(f"{one} first", f"{other} second"), [package], code)
    assert page == way(f"{one} first", f"    ↓ {arrow}", f"{other} second")
    assert not list(way_faults(page, code))
    assert list(way_faults(page.replace(arrow, "calls"), code))


def test_steps_that_nothing_connects_are_no_way(package: Path) -> None:
    code = Code(Package(package))
    page = written(way("store/files.py a", "worker/__main__.py b"), [package], code)
    (said,) = way_faults(page, code)
    assert "nothing leads to" in said


def test_file_that_is_gone_or_stands_twice_is_reported(package: Path) -> None:
    code = Code(Package(package))
    said = list(
        way_faults(way("inlet/gone.py a", "app.py b", "store/files.py c", "app.py d"), code)
    )
    assert "`inlet/gone.py` is no module" in said
    assert "`app.py` is more than one step" in said


def test_page_without_a_drawn_way_is_reported(package: Path) -> None:
    assert list(way_faults("nothing", Code(Package(package)))) == ["no way is drawn"]
