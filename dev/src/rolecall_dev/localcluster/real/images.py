"""Images that we make ourselves from programs that we built, and what real nodes need beyond those.

`pause` and `coredns` are in every real cluster; the others are for tests and for trying, loaded on
demand. All live under the registry name `registry.local`, which does not exist: an image that was not
loaded fails to be pulled, and says so.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.localcluster.programs import (
    NEEDED,
    PROGRAMS,
    Binaries,
    Program,
    cached_path,
    version_of,
)

# What real nodes need beyond a control plane: programs that we build, and where they are used.
# containerd, runc and the CNI plugins are not among them: they come from the machine's packages,
# since they belong to its kernel more than to our versions. The probe says which package is missing.

_ETCD = "go.etcd.io/etcd"

# In the order of building, as in PROGRAMS. Times: 2 cores, the control plane built before.
REAL_PROGRAMS: tuple[Program, ...] = (
    Program("kubelet", "node", "k8s.io/kubernetes/cmd/kubelet", 60),
    Program("kube-proxy", "node", "k8s.io/kubernetes/cmd/kube-proxy", 25),
    Program("coredns", "coredns", ".", 70, pinned="github.com/coredns/coredns"),
    Program("pause", "small", "./pause", 1),
    Program("app", "small", "./app", 4),
    Program("etcdutl", "etcd", f"{_ETCD}/etcdutl/v3", 6),
    Program("etcd-3.5", "etcd-3.5", f"{_ETCD}/server/v3", 38),
    Program("etcdctl-3.5", "etcd-3.5", f"{_ETCD}/etcdctl/v3", 6),
    Program("etcdutl-3.5", "etcd-3.5", f"{_ETCD}/etcdutl/v3", 5),
    Program("etcd-3.5.9", "etcd-3.5.9", f"{_ETCD}/server/v3", 38),
    Program("etcdctl-3.5.9", "etcd-3.5.9", f"{_ETCD}/etcdctl/v3", 6),
    Program("etcdutl-3.5.9", "etcd-3.5.9", f"{_ETCD}/etcdutl/v3", 5),
    Program("rclone", "s3", "./client", 45, pinned="github.com/rclone/rclone"),
    Program("s3", "s3", "./server", 30, pinned="github.com/versity/versitygw"),
)
# The others are for images that tests and samples run.
NEEDED_BY_REAL = (
    *(name for name in NEEDED if name != "kwok"),
    *("kubelet", "kube-proxy", "coredns", "pause"),
)


def require_programs(binaries: Binaries) -> Binaries:
    """These, or an error that names the command that builds them."""
    return binaries.require(NEEDED_BY_REAL, "rolecall cluster build --real")


# Write container images as files, without a builder and without a registry.
# The layout is what `docker save` writes, with one uncompressed layer: every runtime can import it.
# The same files give the same bytes, so an image's identity shows whether it must be imported again.
# Rejected: buildah for these, which is right for a Dockerfile, and a second package for a copy of
# files.

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
    user: str = ""  # a number, because kubelet cannot check a name for root; empty: root


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


# Images that we make ourselves from programs that we built.
# `pause` and `coredns` are in every real cluster; the others are for tests and for trying, loaded on
# demand. All live under the registry name `registry.local`, which does not exist: an image that was
# not loaded fails to be pulled, and says so.

REGISTRY = "registry.local"
PAUSE_IMAGE = f"{REGISTRY}/pause:3.10"
COREDNS = f"{REGISTRY}/coredns:local"
APP = f"{REGISTRY}/app:v1"
ETCD = f"{REGISTRY}/etcd"
RCLONE = f"{REGISTRY}/rclone:v1"
S3 = f"{REGISTRY}/s3:v1"

_BIN = "/usr/local/bin"
_NOT_ROOT = "65532"  # so that pods under Pod Security `restricted` run without naming a user
_ETCD_PROGRAMS: Sequence[Mapping[str, str]] = (
    # Before /readyz, and before members that were promoted stayed voters in 3.6.
    {"etcd": "etcd-3.5.9", "etcdctl": "etcdctl-3.5.9", "etcdutl": "etcdutl-3.5.9"},
    {"etcd": "etcd-3.5", "etcdctl": "etcdctl-3.5", "etcdutl": "etcdutl-3.5"},
    {"etcd": "etcd", "etcdctl": "etcdctl", "etcdutl": "etcdutl"},
)


def etcd_versions() -> tuple[str, ...]:
    """The versions of etcd that there are images of, oldest first, such as `3.5.35`."""
    return tuple(version_of(_program(each["etcd"])).lstrip("v") for each in _ETCD_PROGRAMS)


def write_cluster_images(cache: Path) -> list[Path]:
    """What every real cluster needs, from the cache or written now."""
    images = (
        _image(PAUSE_IMAGE, {"pause": "pause"}, cache, entrypoint="pause"),
        _image(COREDNS, {"coredns": "coredns"}, cache, entrypoint="coredns"),
    )
    return [_written(image) for image in images]


def write_trial_images(cache: Path) -> list[Path]:
    """What tests and samples run: a small app, etcd in each version, a bucket and its client."""
    etcds = (
        _image(f"{ETCD}:{version_of(_program(each['etcd']))}", each, cache, entrypoint="etcd")
        for each in _ETCD_PROGRAMS
    )
    others = ((APP, "app"), (RCLONE, "rclone"), (S3, "s3"))
    small = (
        replace(_image(name, {each: each}, cache, entrypoint=each), user=_NOT_ROOT)
        for name, each in others
    )
    return [_written(image) for image in (*small, *etcds)]


def _image(name: str, programs: Mapping[str, str], cache: Path, *, entrypoint: str) -> Image:
    files = {
        f"{_BIN}/{target}": cached_path(_program(source), cache)
        for target, source in programs.items()
    }
    return Image(name, files, entrypoint=[f"{_BIN}/{entrypoint}"])


def _program(name: str) -> Program:
    return next(each for each in (*PROGRAMS, *REAL_PROGRAMS) if each.name == name)


def _written(image: Image) -> Path:
    """A program's folder carries its hash, so an archive is right as long as it lies beside it."""
    first = next(iter(image.files.values()))
    words = (image.name.rpartition("/")[2].replace(":", "-"), image.user)
    target = first.parent / f"{'-'.join(filter(None, words))}.tar"
    sources = image.files.values()
    if target.exists() and all(
        target.stat().st_mtime >= source.stat().st_mtime for source in sources
    ):
        return target
    return write_image(image, target)
