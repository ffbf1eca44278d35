"""What builds the image: the bill of materials, the base without a registry, whom a build trusts."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import image_archive, write_sbom

from tests.unit.house.documents import ROOT

DPKG = """\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u14
Description: GNU C Library
 Version: not this line

Package: adduser
Status: deinstall ok config-files
Architecture: all
Version: 3.134

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2026a~rc1-0+deb12u1
"""


def test_bill_names_installed_packages_of_the_system_only() -> None:
    found = {it["name"]: it["purl"] for it in write_sbom.of_system(DPKG, "debian")}
    assert found == {
        "libc6": "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64",
        "tzdata": "pkg:deb/debian/tzdata@2026a~rc1-0%2Bdeb12u1?arch=all",
    }


def test_bill_is_the_same_in_whatever_order_things_were_found() -> None:
    rows = [write_sbom.component(name, "1", f"pkg:pypi/{name}@1") for name in ("b", "a", "c")]
    bill = write_sbom.document(rows)
    assert bill == write_sbom.document(rows[::-1])
    assert [row["name"] for row in bill["components"]] == ["a", "b", "c"]
    assert "timestamp" not in json.dumps(bill)


def test_bill_lists_what_is_installed_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_sbom.main(tmp_path)
    names = {row["name"] for row in json.loads(capsys.readouterr().out)["components"]}
    assert {"ansible-core", "aiohttp", "rolecall"} <= names


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "buildah" else name)
    lack = image_archive.what_is_missing()
    assert lack.endswith("`apt-get install --no-install-recommends buildah`")


@pytest.mark.parametrize("flags", [None, "OC"])
def test_foreign_platform_needs_an_emulator_that_builds_find(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str | None
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(image_archive, "BINFMT", tmp_path)
    assert image_archive.architecture_in(["TARGET=engine"]) == "amd64"
    foreign = image_archive.architecture_in(["PLATFORM=linux/arm64"])
    assert image_archive.base_for(foreign) == f"{image_archive.BASE}-arm64"
    handler = tmp_path / "qemu-aarch64"
    if flags:
        handler.write_text(f"enabled\nflags: {flags}\n")
    with pytest.raises(image_archive.BuildError, match=r"programs of `arm64`.*qemu-user-static"):
        image_archive.require_emulator(foreign)
    handler.write_text("enabled\nflags: POF\n")
    image_archive.require_emulator(foreign)
    image_archive.require_emulator("amd64")


def test_build_trusts_whom_the_machine_trusts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundle = tmp_path / "trusted.crt"
    bundle.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    options = image_archive.build_options()
    assert f"--volume={tmp_path}:/mnt:ro" in options
    arguments = [option for option in options if option.startswith("--build-arg")]
    names = re.findall(r"^ARG (PIP_CERT|SSL_CERT_FILE)$", (ROOT / "Dockerfile").read_text(), re.M)
    assert arguments == [f"--build-arg={name}=/mnt/trusted.crt" for name in names]


def test_base_is_as_slim_as_the_published_one(tmp_path: Path) -> None:
    for folder in (*image_archive.SLIM, *image_archive.LEFTOVERS, "etc/dpkg/dpkg.cfg.d", "etc/apt"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "usr/share/doc/bash").mkdir()
    (tmp_path / "var/log/dpkg.log").touch()
    image_archive.make_slim(tmp_path)
    assert not list((tmp_path / "usr/share/doc").iterdir())
    assert not list((tmp_path / "var/log").iterdir())
    assert "bookworm-security" in (tmp_path / "etc/apt/sources.list").read_text()
    excluded = (tmp_path / "etc/dpkg/dpkg.cfg.d/slim").read_text().splitlines()
    assert excluded[0] == "path-exclude /usr/share/doc/*"


def test_base_is_of_the_release_that_the_dockerfile_names() -> None:
    published = re.search(r"^ARG BASE_IMAGE=docker.io/library/(\S+)$", _dockerfile(), re.M)
    assert published is not None
    assert f"localhost/{published[1]}" == image_archive.BASE


def test_builder_sends_only_what_the_dockerfile_copies() -> None:
    kept = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )?(.+) \S+$", _dockerfile(), re.M)
    assert sorted(kept) == sorted({name.rstrip("/") for names in copied for name in names.split()})


@pytest.mark.parametrize(
    ("makefile", "target"),
    [
        (ROOT / "Makefile", "image"),
        (ROOT / "dev/src/rolecall_dev/scaffold/templates/init/Makefile", "docker-build"),
    ],
)
def test_image_is_built_with_the_ansible_core_that_was_asked_for(
    makefile: Path, target: str
) -> None:
    def command(*variables: str) -> str:
        dry = ["make", "--dry-run", "--no-print-directory", "-f", str(makefile), target]
        return subprocess.run(
            [*dry, *variables], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout

    assert "--build-arg ANSIBLE_CORE=2.18 " in command("ANSIBLE_CORE=2.18")
    assert "ANSIBLE_CORE" not in command("ANSIBLE_CORE=")


def _dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text()
