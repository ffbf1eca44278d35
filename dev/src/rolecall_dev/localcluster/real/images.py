"""Images that we make ourselves from programs that we built.

`pause` and `coredns` are in every real cluster; the others are for tests and for trying, loaded on
demand. All live under the registry name `registry.local`, which does not exist: an image that was not
loaded fails to be pulled, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rolecall_dev.localcluster.programs import PROGRAMS, Program, cached_path, version_of
from rolecall_dev.localcluster.real.archive import Image, write_image
from rolecall_dev.localcluster.real.programs import REAL_PROGRAMS

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
