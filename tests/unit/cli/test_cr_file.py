from __future__ import annotations

import io
from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.watches import Play, Watch
from rolecall_dev.cli.crs import read_cr

APP = Watch(Gvk("demo.example.com", "v1", "App"), Play(Path("/roles/app"), is_role=True))
MANIFEST = """\
apiVersion: demo.example.com/v1
kind: App
metadata: {name: shop}
spec: {size: 1}
"""
NAMESPACE = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n"


def write(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "cr.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_the_one_object_of_a_watched_kind_is_taken(tmp_path: Path) -> None:
    cr, watch = read_cr(write(tmp_path, f"---\n{MANIFEST}{NAMESPACE}---\n"), [APP])
    assert (cr["metadata"]["name"], cr["spec"], watch) == ("shop", {"size": 1}, APP)


def test_a_dash_reads_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(MANIFEST))
    assert read_cr("-", [APP])[0]["kind"] == "App"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NAMESPACE, "`Namespace` (v1) was found, but no such kind is watched"),
        ("", "no object was found, but no such kind is watched"),
        (f"{MANIFEST}---\n{MANIFEST}", "2 objects of watched kinds were found: App shop, App shop"),
        (MANIFEST.replace("v1\n", "v2\n"), "`App` (demo.example.com/v2) was found"),
        ("a: [1\nb: 2\n", "cr.yaml:2: is not valid YAML"),
        ("just text", "contains a document that is not a Kubernetes object"),
        ("kind: App\nmetadata: {name: x}", "contains a document that is not a Kubernetes object"),
        (MANIFEST.replace("shop", "1"), "contains a document that is not a Kubernetes object"),
        (
            MANIFEST.replace("{name: shop}", "shop"),
            "contains a document that is not a Kubernetes object",
        ),
        (b"\xff\xfe\xff", "is not text"),
        ("[" * 5000, "cr.yaml"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path: Path, text: str | bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_cr(write(tmp_path, text), [APP])
    assert says in str(caught.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be read: No such file"):
        read_cr(str(tmp_path / "missing"), [APP])
