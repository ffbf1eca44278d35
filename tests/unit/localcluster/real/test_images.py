"""Archives that any container runtime can import, and that name what is in them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.localcluster import Image, etcd_versions, names_in, write_image


@pytest.fixture
def image(tmp_path: Path) -> Image:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    files = {"/usr/local/bin/program": program}
    return Image("registry.local/program:v1", files, entrypoint=["/usr/local/bin/program"])


def test_archive_reports_its_name(image: Image, tmp_path: Path) -> None:
    assert names_in(write_image(image, tmp_path / "a.tar")) == ["registry.local/program:v1"]


def test_same_files_give_the_same_bytes(image: Image, tmp_path: Path) -> None:
    one, other = (write_image(image, tmp_path / name) for name in ("a.tar", "b.tar"))
    assert one.read_bytes() == other.read_bytes()


def test_config_names_the_layer_by_its_hash(image: Image, tmp_path: Path) -> None:
    with tarfile.open(write_image(image, tmp_path / "a.tar")) as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        content = {name: file.read() for name, file in files.items() if file}
    manifest = json.loads(content["manifest.json"])[0]
    config = content[manifest["Config"]]
    assert manifest["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    layer = content[manifest["Layers"][0]]
    assert json.loads(config)["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(layer).hexdigest()}"
    ]


def test_programs_in_the_image_may_be_executed_by_anyone(image: Image, tmp_path: Path) -> None:
    with tarfile.open(write_image(image, tmp_path / "a.tar")) as archive:
        layer = archive.extractfile("layer.tar")
        assert layer is not None
        with tarfile.open(fileobj=io.BytesIO(layer.read())) as inner:
            assert inner.getmember("usr/local/bin/program").mode == 0o755
            assert inner.getmember("tmp").mode == 0o1777


def test_file_that_is_no_archive_is_refused_with_the_way_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_text("hello")
    with pytest.raises(InputError) as caught:
        names_in(tmp_path / "x.tar")
    assert "docker save" in caught.value.hint
    with pytest.raises(InputError, match="could not be read"):
        names_in(tmp_path / "nothing.tar")


def test_etcd_comes_in_two_minor_versions_that_follow_each_other() -> None:
    first, old, new = (tuple(int(p) for p in version.split(".")) for version in etcd_versions())
    assert first[:2] == old[:2]
    assert (old[0], old[1] + 1) == (new[0], new[1])
