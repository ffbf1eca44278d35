"""Write container images as files, without a builder and without a registry.

The layout is what `docker save` writes, with one uncompressed layer: every runtime can import it. The
same files give the same bytes, so an image's identity tells whether it must be imported again.
Rejected: buildah for these, which is right for a Dockerfile, and a second package for a copy of files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.errors import InputError

_EPOCH = "1970-01-01T00:00:00Z"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_FOLDERS = (("tmp", 0o1777), ("etc", 0o755))
_TEXTS = {
    "etc/passwd": "root:x:0:0:root:/:/\nnonroot:x:65532:65532::/:/\n",
    "etc/group": "root:x:0:\nnonroot:x:65532:\n",
}


@dataclass(frozen=True, slots=True)
class Image:
    """An image of programs that need nothing but the kernel."""

    name: str  # with its tag, such as `registry.local/etcd:v3.6.16`
    files: Mapping[str, Path]  # path in the image -> file on this machine
    entrypoint: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""  # a number, as kubelet cannot tell whether a name is root's; root without it


def write_image(image: Image, target: Path) -> Path:
    """The archive, whole or not at all."""
    layer = _layer(image.files)
    config = json.dumps(_config(image, layer)).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": [image.name], "Layers": ["layer.tar"]}]
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file,
        tarfile.open(fileobj=file, mode="w") as archive,
    ):
        _add(archive, name, config)
        _add(archive, "layer.tar", layer)
        _add(archive, "manifest.json", json.dumps(manifest).encode())
    return Path(file.name).replace(target)


def names_in(archive: Path) -> list[str]:
    try:
        with tarfile.open(archive) as opened:
            member = opened.extractfile("manifest.json")
            assert member is not None, "manifest.json is a file"
            return [name for each in json.load(member) for name in each["RepoTags"] or ()]
    except OSError as error:
        raise InputError(
            f"image archive `{archive}` could not be read: {error.strerror}"
        ) from error
    except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"`{archive}` is not a docker-archive",
            hint="`docker save` or `buildah push IMAGE docker-archive:FILE:NAME` writes one",
        ) from error


def _layer(files: Mapping[str, Path]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as layer:
        for folder, mode in _FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            layer.addfile(entry)
        for path, text in _TEXTS.items():
            _add(layer, path, text.encode())
        for path, source in sorted(files.items()):
            _add(layer, path.lstrip("/"), source.read_bytes(), mode=0o755)
    return content.getvalue()


def _config(image: Image, layer: bytes) -> dict[str, object]:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **image.environment}
    machine = os.uname().machine
    return {
        "architecture": _ARCHITECTURES.get(machine, machine),
        "os": "linux",
        "created": _EPOCH,
        "config": {
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "Entrypoint": list(image.entrypoint),
            "User": image.user,
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"],
        },
        "history": [{"created": _EPOCH, "created_by": "rolecall"}],
    }


def _add(archive: tarfile.TarFile, name: str, content: bytes, *, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
