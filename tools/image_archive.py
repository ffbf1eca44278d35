"""Build the image where no registry can be reached, and write it as an archive.

    .venv/bin/python tools/image_archive.py IMAGE ARCHIVE.tar [VARIABLE=VALUE ...]

Part of `make image-archive`; variables are those of `make image`. The Dockerfile is the same, and so
is the command; only its base comes from Debian's packages instead of a registry: what
`debian:bookworm-slim` has, made once by debootstrap. `rolecall cluster load-image` takes the archive,
and so does `docker load`.

Of another platform (`PLATFORM=linux/arm64`) too, where the kernel knows an emulator for its programs.

Builder and base live in the cache of rolecall, beside the programs of local clusters: nothing is
written to folders of the machine, and what did not change is not built again. Needs root, as
debootstrap does.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rolecall_dev.localcluster import default_cache

ROOT = Path(__file__).resolve().parents[1]
SUITE = "bookworm"
BASE = f"localhost/debian:{SUITE}-slim"
# What Python calls a machine -> what Debian and image registries call it.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
EMULATORS = {"amd64": "qemu-x86_64", "arm64": "qemu-aarch64"}
# Program -> the Debian package that has it.
PACKAGES = {"buildah": "buildah", "debootstrap": "debootstrap"}
# What the slim images of Debian leave out.
SLIM = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale")
LEFTOVERS = ("var/cache/apt", "var/lib/apt/lists", "var/log")
SOURCES = """\
deb http://deb.debian.org/debian {suite} main
deb http://deb.debian.org/debian {suite}-updates main
deb http://deb.debian.org/debian-security {suite}-security main
"""
STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""
BINFMT = Path("/proc/sys/fs/binfmt_misc")
# An empty folder of every Debian, so that mounting something there leaves nothing in the image.
MOUNT = "/mnt"


class BuildError(Exception):
    """One line of cause, and the way out where there is one."""


def what_is_missing() -> str:
    """Empty when images can be built here; else one line with the way out."""
    if missing := missing_packages():
        command = f"apt-get install --no-install-recommends {' '.join(missing)}"
        return f"building an image without a registry needs packages: `{command}`"
    if os.geteuid() != 0:
        return "building an image without a registry needs root: run the same command with sudo"
    return ""


def missing_packages() -> list[str]:
    """Those of Debian that have what was not found here."""
    return [package for program, package in PACKAGES.items() if shutil.which(program) is None]


class Builder:
    """buildah with a storage of its own."""

    def __init__(self, folder: Path) -> None:
        """Storage and base live in the folder."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._storage = folder / "storage.conf"
        self._storage.write_text(STORAGE.format(folder=folder))

    @property
    def environment(self) -> Mapping[str, str]:
        """With which every buildah finds what another has built."""
        return {**os.environ, "CONTAINERS_STORAGE_CONF": str(self._storage)}

    def has(self, image: str) -> bool:
        """Whether the image is there."""
        command = ["buildah", "inspect", "--type", "image", image]
        return not subprocess.run(
            command, env=self.environment, capture_output=True, check=False
        ).returncode

    def make_base(self, architecture: str) -> None:
        """A Debian without anything that this image does not ask for."""
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            root = Path(scratch) / "root"
            what = ["--variant=minbase", "--include=ca-certificates", f"--arch={architecture}"]
            self._run("debootstrap", *what, SUITE, root)
            make_slim(root)
            container = self._run("buildah", "from", "scratch").strip()
            self._run("buildah", "add", "--quiet", container, root, "/")
            path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            facts = ["--arch", architecture, "--env", path, "--cmd", "bash"]
            self._run("buildah", "config", *facts, container)
            self._run("buildah", "commit", "--quiet", "--rm", container, base_for(architecture))

    def make_image(self, image: str, *variables: str) -> None:
        """`make image` with this builder; variables as make takes them."""
        architecture = architecture_in(variables)
        require_emulator(architecture)
        base = base_for(architecture)
        if not self.has(base):
            self.make_base(architecture)
        self._make("image", f"IMG={image}", f"BASE_IMAGE={base}", *variables)

    def build(self, folder: Path, image: str, *options: str) -> None:
        """Any other Dockerfile, such as one that begins with `FROM rolecall`."""
        self._run("buildah", "build", *build_options(), *options, "--tag", image, folder)

    def write(self, image: str, archive: Path) -> Path:
        """As `docker save` does."""
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.unlink(missing_ok=True)  # buildah does not replace
        self._run("buildah", "push", "--quiet", image, f"docker-archive:{archive}:{image}")
        return archive

    def _make(self, *arguments: str) -> None:
        options = " ".join(build_options())
        self._run(
            *("make", "--no-print-directory", "-C", ROOT, "CONTAINER_TOOL=buildah"),
            *(f"BUILD_OPTIONS={options}", *arguments),
        )

    def _run(self, *command: str | Path) -> str:
        result = subprocess.run(
            [str(word) for word in command],
            env={key: value for key, value in self.environment.items() if key != "MAKEFLAGS"},
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            # Programs of the Dockerfile complain on either; `rolecall check` does on stdout.
            words = f"{result.stdout.strip()}\n{result.stderr.strip()}"[-2000:]
            raise BuildError(f"`{' '.join(map(str, command[:2]))}` failed:\n{words}")
        return result.stdout


def native() -> str:
    """The architecture of this machine, as Debian names it."""
    return ARCHITECTURES.get(platform.machine(), platform.machine())


def architecture_in(variables: Sequence[str]) -> str:
    """That of the variable PLATFORM; else that of this machine."""
    wanted = dict(each.split("=", 1) for each in variables).get("PLATFORM", "")
    return wanted.partition("/")[2] or native()


def base_for(architecture: str) -> str:
    """The name of the base; a foreign one carries its architecture."""
    return BASE if architecture == native() else f"{BASE}-{architecture}"


def require_emulator(architecture: str) -> None:
    """Programs of another architecture run in the build; the kernel must know how."""
    if architecture == native():
        return
    handler = BINFMT / EMULATORS.get(architecture, architecture)
    flags = re.search(r"^flags: (\w*)", handler.read_text(), re.M) if handler.is_file() else None
    if flags is None or "F" not in flags[1]:  # F: found from inside of a container, too
        raise BuildError(
            f"this machine cannot run programs of `{architecture}`:"
            " `apt-get install --no-install-recommends qemu-user-static binfmt-support` lets it"
        )


def build_options() -> list[str]:
    """What lets a build run inside of a container, and trust whom this machine trusts."""
    options = ["--isolation=chroot", "--pull-never", "--layers"]
    bundle = Path(os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or "")
    if bundle.is_file():
        place = f"{MOUNT}/{bundle.resolve().name}"
        options += [f"--volume={bundle.resolve().parent}:{MOUNT}:ro"]
        options += [f"--build-arg=PIP_CERT={place}", f"--build-arg=SSL_CERT_FILE={place}"]
    return options


def make_slim(root: Path) -> None:
    """Leave out what a container never reads, now and when packages are added later."""
    for folder in (*SLIM, *LEFTOVERS):
        for entry in (root / folder).iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    excluded = "".join(f"path-exclude /{folder}/*\n" for folder in SLIM)
    (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(excluded)
    (root / "etc/apt/sources.list").write_text(SOURCES.format(suite=SUITE))


def main(arguments: Sequence[str]) -> None:
    """Build, write, and say what to type next."""
    image, archive, *variables = arguments
    if lack := what_is_missing():
        raise BuildError(lack)
    builder = Builder(default_cache() / "images")
    builder.make_image(image, *variables)
    written = builder.write(image, Path(archive))
    print(
        f"{written}: {written.stat().st_size / 1e6:.0f} MB; `rolecall cluster load-image` takes it"
    )


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BuildError as error:
        sys.exit(f"error: {error}")
