"""Where programs are looked for, and how the cache distinguishes versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.localcluster import MissingProgramsError, default_cache, find_binaries
from rolecall_dev.localcluster.programs import (
    NEEDED,
    PROGRAMS,
    cached_path,
    linker_flags,
    required_go,
    version_of,
)


def put_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_versions_come_from_the_pinned_modules() -> None:
    versions = {program.name: version_of(program) for program in PROGRAMS}
    assert versions["kube-apiserver"] == versions["kubectl"]
    assert all(version.startswith("v") for version in versions.values())


def test_api_server_is_built_with_its_version() -> None:
    apiserver = PROGRAMS[0]
    assert f"version.gitVersion={version_of(apiserver)}" in linker_flags(apiserver)


def test_every_module_names_the_go_it_needs() -> None:
    assert all(required_go(program.module) >= (1, 21) for program in PROGRAMS)


def test_version_and_module_name_the_folder_in_the_cache(tmp_path: Path) -> None:
    for program in PROGRAMS:
        path = cached_path(program, tmp_path)
        assert path.name == program.name
        assert path.parent.name.startswith(f"{program.module}-{version_of(program)}-")


def test_cache_is_used_when_nothing_is_given(tmp_path: Path) -> None:
    paths = {each.name: put_program(cached_path(each, tmp_path)) for each in PROGRAMS}
    assert find_binaries(cache=tmp_path, environment={}).require().paths == paths


def test_given_assets_come_before_everything_else(tmp_path: Path) -> None:
    in_cache = {each.name: put_program(cached_path(each, tmp_path / "cache")) for each in PROGRAMS}
    given = put_program(tmp_path / "given" / "etcd")
    tested = put_program(tmp_path / "tested" / "etcd")
    tested_api = put_program(tmp_path / "tested" / "kube-apiserver")
    found = find_binaries(
        tmp_path / "given",
        cache=tmp_path / "cache",
        environment={"KUBEBUILDER_ASSETS": str(tmp_path / "tested")},
    )
    assert found["etcd"] == given != tested
    assert found["kube-apiserver"] == tested_api
    assert found["kwok"] == in_cache["kwok"]


def test_program_that_may_not_be_executed_is_not_a_program(tmp_path: Path) -> None:
    put_program(tmp_path / "etcd").chmod(0o644)
    assert "etcd" in find_binaries(tmp_path, cache=tmp_path, environment={}).missing


def test_missing_programs_are_named_with_the_command_that_builds_them(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramsError) as caught:
        find_binaries(cache=tmp_path, environment={}).require()
    assert all(f"`{name}`" in caught.value.message for name in NEEDED)
    assert "rolecall cluster build" in caught.value.hint


def test_assets_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was not found"):
        find_binaries(tmp_path / "nowhere", cache=tmp_path, environment={})


def test_cache_follows_the_variables_that_users_know() -> None:
    assert default_cache({"ROLECALL_CACHE": "/fast/disk"}) == Path("/fast/disk")
    assert default_cache({"XDG_CACHE_HOME": "/x"}) == Path("/x/rolecall")
    assert default_cache({}) == Path.home() / ".cache" / "rolecall"
