"""The wheels that an operator's pod gets hold no module that never runs there."""

from __future__ import annotations

import configparser
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import PurePosixPath
from zipfile import ZipFile

import pytest

from rolecall import __version__
from rolecall.cli import ENGINE_COMMANDS
from tests.unit.house.documents import ROOT
from tests.unit.house.reach import Sources, reach

# What no import names: programs of their own, and what is chosen by a name that is computed.
STARTED = (
    "rolecall.__main__",
    "rolecall.extensions.handlers.child.__main__",
    "rolecall.runner.stock.supervisor",
    "rolecall_warm.__main__",
    "rolecall.runner.warm.proof.__main__",
)
COMPUTED = "rolecall_warm.hooks.core_"
# Ansible finds it by its path, and roles name what is in it.
COLLECTIONS = "rolecall/collections/"


FOLDERS = (".", "base", "warm")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ZipFile]:
    """By the folder that each is made of."""
    made = {}
    for source in FOLDERS:
        folder = tmp_path_factory.mktemp("wheel")
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(build, cwd=ROOT / source, capture_output=True, check=True)
        (path,) = folder.glob("*.whl")
        made[source] = ZipFile(path)
    return made


@pytest.mark.slow
def test_every_module_of_the_wheels_can_be_reached_by_what_a_pod_runs(
    wheels: dict[str, ZipFile],
) -> None:
    sources = {name: text for wheel in wheels.values() for name, text in sources_of(wheel).items()}
    commands = {command.module for command in ENGINE_COMMANDS.values()}
    computed = {name for name in sources if name.startswith(COMPUTED)}
    begin = {*named_by(wheels["."]), *commands, *STARTED, *computed}
    assert begin <= set(sources)
    idle = sorted(set(sources) - reach(sources, begin))
    assert not idle, f"no pod ever runs {', '.join(idle)}"


@pytest.mark.parametrize(
    ("folder", "package"), [(".", "rolecall"), ("base", "rolecall_base"), ("warm", "rolecall_warm")]
)
def test_each_wheel_holds_one_package_and_nothing_else(
    wheels: dict[str, ZipFile], folder: str, package: str
) -> None:
    tops = {PurePosixPath(name).parts[0] for name in wheels[folder].namelist()}
    assert sorted(top.partition("-")[0] for top in tops) == [package, package]


def test_licence_of_the_warm_host_comes_with_it_and_with_nothing_else(
    wheels: dict[str, ZipFile],
) -> None:
    licences = {
        folder: [name for name in wheel.namelist() if name.endswith("licenses/COPYING")]
        for folder, wheel in wheels.items()
    }
    assert [len(licences[folder]) for folder in FOLDERS] == [0, 0, 1]


def test_all_distributions_are_of_one_version_and_need_each_other_in_no_circle() -> None:
    projects = {
        folder: tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (*FOLDERS, "dev")
    }
    assert {project["version"] for project in projects.values()} == {__version__}
    needed = {
        project["name"]: [each for each in project.get("dependencies", ()) if "rolecall" in each]
        for project in projects.values()
    }
    patched = f"rolecall-warm=={__version__}.*; sys_platform == 'linux'"
    assert needed == {
        "rolecall-base": [],
        "rolecall-warm": [f"rolecall-base=={__version__}.*"],
        "rolecall": [f"rolecall-base=={__version__}", patched],
        "rolecall-dev": [f"rolecall=={__version__}", f"rolecall-base=={__version__}"],
    }
    assert projects["."]["optional-dependencies"]["dev"] == [f"rolecall-dev=={__version__}"]


def test_what_only_a_package_offers_is_found_idle() -> None:
    sources = {
        "p": "",
        "p.cli": "from p.room import Used",
        "p.room": "from p.room.used import Used\nfrom p.room.idle import Idle",
        "p.room.used": "from p.room.below import below",
        "p.room.idle": "",
        "p.room.below": "",
        "p.types": "",
    }
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.types import T\n"
    sources["p.room.below"] = typed
    assert set(sources) - reach(sources, {"p.cli"}) == {"p.room.idle", "p.types"}


def sources_of(wheel: ZipFile) -> Sources:
    return {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): wheel.read(
            name
        ).decode()
        for name in wheel.namelist()
        if name.endswith(".py") and not name.startswith(COLLECTIONS)
    }


def named_by(wheel: ZipFile) -> set[str]:
    """The modules of its console scripts, extensions and their commands."""
    (file,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    parser = configparser.ConfigParser()
    parser.read_string(wheel.read(file).decode())
    named = {
        value.partition(":")[0]
        for section in parser.sections()
        for value in parser[section].values()
    }
    more = {
        command.module
        for point in entry_points(group="rolecall.commands")
        if point.module in named
        for command in point.load().values()
    }
    return named | more
