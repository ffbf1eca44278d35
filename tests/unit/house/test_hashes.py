"""Every hash is one that FIPS allows: `tests/e2e/test_fips.py` reaches a part of the code alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.unit.house.documents import ROOT

_FOLDERS = ("src", "base/src", "warm/src", "dev/src", "roles")
_ALLOWED = frozenset({"sha256", "sha384", "sha512"})


def hashes_in(text: str) -> Iterator[str]:
    """Names in `hashlib` that are used, but for those that say that they protect nothing."""
    tree = ast.parse(text)
    harmless = {
        node.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and any(_says_so(each) for each in node.keywords)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("hashlib", "_hashlib"):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            may_be_refused = node.attr.startswith("blake") or node not in harmless
            if node.value.id == "hashlib" and may_be_refused:
                yield node.attr


def _says_so(keyword: ast.keyword) -> bool:
    value = keyword.value
    return keyword.arg == "usedforsecurity" and isinstance(value, ast.Constant) and not value.value


def test_code_uses_no_hash_that_fips_refuses() -> None:
    files = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        if "hashlib" in (text := path.read_text(encoding="utf-8"))
        for name in hashes_in(text)
        if name not in _ALLOWED
    ]
    assert found == []
    assert sum("hashlib" in path.read_text(encoding="utf-8") for path in files) > 10


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("hashlib.blake2b(x, digest_size=8)", "blake2b"),
        ("hashlib.blake2b(x, usedforsecurity=False)", "blake2b"),
        ("hashlib.md5(x)", "md5"),
        ("hashlib.md5(x, usedforsecurity=True)", "md5"),
        ("digest = hashlib.sha1", "sha1"),
        ("hashlib.new('md5')", "new"),
        ("from hashlib import md5", "md5"),
        ("hashlib.sha1(x, usedforsecurity=False)", ""),
    ],
)
def test_such_a_hash_is_found(line: str, name: str) -> None:
    assert "".join(hashes_in(f"import hashlib\n{line}\n")) == name
