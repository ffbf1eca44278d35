"""`rolecall convert`: files, lists and stdin, and what is wrong with them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import yaml

from rolecall.cli import main

CONVERSIONS = """\
- group: example.com
  kind: Shop
  steps:
    - {older: v1, newer: v2, rules: [{rename: spec.size, to: spec.replicas}]}
"""
SHOP = """\
apiVersion: example.com/v1
kind: Shop
metadata: {name: corner}
spec: {size: 3}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conversions.yaml").write_text(CONVERSIONS)
    return tmp_path


@pytest.mark.parametrize("is_list", [False, True])
def test_shops_are_converted_and_the_rest_stays(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, is_list: bool
) -> None:
    text = f"{NAMESPACE}---\n{SHOP}"
    if is_list:
        items = list(yaml.safe_load_all(text))
        text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["convert", "--file", "-", "--to", "v2"]) == 0
    namespace, shop = yaml.safe_load_all(capsys.readouterr().out)
    assert namespace["kind"] == "Namespace"
    assert (shop["apiVersion"], shop["spec"]) == ("example.com/v2", {"replicas": 3})


@pytest.mark.parametrize(
    ("text", "to", "said"),
    [
        (
            f"{SHOP}---\n{SHOP.replace('corner', 'other')}",
            "v3",
            [
                "error: shop.yaml: Shop `corner`: `v3` (--to) is not a version of the conversion",
                "hint: there are `v1`, `v2`",
                "shop.yaml: Shop `other`: `v3` (--to) is not a version of the conversion",
                "hint: there are `v1`, `v2`",
            ],
        ),
        (
            SHOP.replace("v1", "v0"),
            "v2",
            [
                "error: shop.yaml: Shop `corner`: `v0` (apiVersion) is not a version of the conversion",
                "hint: there are `v1`, `v2`",
            ],
        ),
        (
            NAMESPACE,
            "v2",
            [
                "error: shop.yaml: nothing in it is converted: `Namespace` (v1)",
                "hint: conversions.yaml converts `Shop` (example.com)",
            ],
        ),
    ],
)
def test_what_cannot_be_converted_is_named(
    capsys: pytest.CaptureFixture[str], text: str, to: str, said: list[str]
) -> None:
    Path("shop.yaml").write_text(text)
    assert main(["convert", "--file", "shop.yaml", "--to", to]) == 2
    assert capsys.readouterr().err.splitlines() == said
