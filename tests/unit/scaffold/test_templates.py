"""Templates are the files that the distribution ships, and nothing that an installer adds to them."""

from __future__ import annotations

import compileall
import shutil
from importlib import resources
from pathlib import Path

import pytest

from rolecall_dev.scaffold import templates


def test_bytecode_of_a_template_is_not_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install` compiles the templates of tests, and then `rolecall init` failed."""
    with resources.as_file(resources.files(templates.__package__ or "") / "templates") as shipped:
        shutil.copytree(shipped, tmp_path / "templates")
    (tmp_path / "templates" / "api" / "tests" / "plain.py").write_text("")
    compileall.compile_dir(tmp_path, quiet=2)
    assert list(tmp_path.rglob("*.pyc"))
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)

    class _AnyValue(dict[str, str]):
        def __missing__(self, key: str) -> str:
            if key == "pycache":
                raise KeyError(key)
            return key

    assert not [path for path in templates.rendered("api", _AnyValue()) if "pycache" in path]
