"""A project made just now reaches a cluster by its own Dockerfile and its own Makefile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.image_archive import Builder, BuildError, what_is_missing

from rolecall_dev.localcluster import REGISTRY, Cluster, load_images
from tests.fixtures.lacking import skip_or_fail
from tests.real import images
from tests.real.make import make
from tests.real.world import World, names_outside_namespaces

ROLECALL = str(Path(sys.executable).with_name("rolecall"))
NAME = "cart-operator"
IMAGE = f"{REGISTRY}/{NAME}:v1"


@dataclass(frozen=True)
class Project:
    """Its folder, and the cluster it goes to."""

    folder: Path
    cluster: Cluster

    def make(self, target: str, *variables: str) -> str:
        """A target of its Makefile."""
        own = (f"ROLECALL={ROLECALL}", f"NAME={self.cluster.name}")
        return make(self.folder, target, *own, *variables)

    def left(self) -> list[str]:
        """What it has brought into the cluster, outside of namespaces."""
        names = names_outside_namespaces(self.cluster)
        return [name for name in names if NAME in name or name.endswith("cart.example.com")]


@pytest.fixture
def project(real_cluster: Cluster, tmp_path: Path) -> Project:
    """With one kind, whose role has a finalizer."""
    folder = tmp_path / NAME
    folder.mkdir()
    for command in (
        ["init", "--domain", "example.com"],
        ["create", "api", "--group", "cart", "--version", "v1", "--kind", "Cart", "--finalizer"],
    ):
        subprocess.run([ROLECALL, *command], cwd=folder, check=True, capture_output=True)
    return Project(folder, real_cluster)


@pytest.fixture
def build(project: Project) -> Callable[[], Builder]:
    """Builds the project's image upon that of the engine, and gives back who did."""
    if lack := what_is_missing():
        skip_or_fail(lack)
    builder = images.a_builder()
    images.build_engine(builder)

    def built() -> Builder:
        builder.build(project.folder, IMAGE, f"--build-arg=ROLECALL_IMAGE={images.ENGINE}")
        return builder

    return built


def test_generated_operator_serves_from_its_own_image_and_goes_without_a_trace(
    project: Project, build: Callable[[], Builder], world: World, tmp_path: Path
) -> None:
    load_images(project.cluster, [build().write(IMAGE, tmp_path / "image.tar")])
    project.make("deploy", f"IMG={IMAGE}")
    world.kubectl("wait", "--for=condition=Established", "crd", "carts.cart.example.com")
    world.kubectl("apply", "-k", str(project.folder / "config" / "samples"))
    cart = world.wait_ready("cart", "cart-sample")
    assert cart["metadata"]["finalizers"], "so that undeploying needs an engine that finalizes"
    said = world.get("configmap", "cart-sample-message")
    assert said["metadata"]["ownerReferences"][0]["kind"] == "Cart"

    project.make("undeploy")
    assert project.left() == []


def test_image_of_a_project_whose_role_is_missing_is_not_built(
    project: Project, build: Callable[[], Builder]
) -> None:
    watches = project.folder / "watches.yaml"
    watches.write_text(watches.read_text().replace("role: cart", "role: card"))
    with pytest.raises(BuildError, match=r"watches.yaml:\d+.*card"):
        build()


def test_image_has_the_handlers_of_a_project_and_the_packages_that_they_import(
    project: Project, build: Callable[[], Builder]
) -> None:
    folder = project.folder
    handler = [ROLECALL, "create", "handler", "--kind", "Cart"]
    subprocess.run(handler, cwd=folder, check=True, capture_output=True)
    with (folder / "requirements.txt").open("a") as requirements:
        requirements.write("redis\naiohttp\n")
    file = folder / "handlers" / "cart.py"
    file.write_text(file.read_text() + "\n\nimport aiohttp, redis\n")
    with (folder / "Dockerfile").open("a") as dockerfile:
        dockerfile.write("RUN python3 handlers/cart.py\n")
        # What the engine has is not there twice.
        dockerfile.write("RUN ! ls -d /opt/rolecall/python-packages/aiohttp*\n")
    build()

    (folder / "requirements.txt").write_text("aiohttp<3\n")
    with pytest.raises(BuildError, match=r"\(constraint\) aiohttp"):
        build()
