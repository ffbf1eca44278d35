"""What is kept over restarts: one line where it cannot be, and nothing of others' is touched."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.skip import ConfigMapStore, FileStore
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, NotFoundError, Target

_TARGET = Target("get")


class Api:
    """ConfigMaps by name."""

    def __init__(self) -> None:
        self.found: dict[str, Json] = {}
        self.refuses = False

    def _check(self) -> None:
        if self.refuses:
            raise ForbiddenError("configmaps is forbidden", code=403, target=_TARGET)

    async def get(self, _gvk: Gvk, _namespace: str, name: str) -> Json:
        self._check()
        if name not in self.found:
            raise NotFoundError("no such object", code=404, target=_TARGET)
        return self.found[name]

    async def create(self, _gvk: Gvk, body: Any) -> Json:
        self._check()
        self.found[body["metadata"]["name"]] = dict(body)
        return self.found[body["metadata"]["name"]]

    async def merge_patch(self, _gvk: Gvk, _namespace: str, name: str, patch: Any) -> Json:
        self._check()
        self.found[name] |= patch
        return self.found[name]


async def test_what_was_written_is_read_again() -> None:
    api = Api()
    store = ConfigMapStore(api, "ops", "app")
    assert await store.read(3) == b""
    await store.write(3, b"one")
    await store.write(3, b"two")
    assert await store.read(3) == b"two"
    assert list(api.found) == ["app-unchanged-3"]


@pytest.mark.parametrize("data", ["%%%", base64.b64encode(b"no zip").decode(), None, 7])
async def test_a_garbled_config_map_is_reported_once(
    caplog: pytest.LogCaptureFixture, data: object
) -> None:
    api = Api()
    store = ConfigMapStore(api, "ops", "app")
    await store.write(0, b"one")
    api.found["app-unchanged-0"]["binaryData"] = {"runs": data}
    assert await store.read(0) == b""
    assert await store.read(0) == b""
    assert [record.message for record in caplog.records] == [
        "ConfigMap `app-unchanged-0` is garbled; the runs that it spoke of are made"
    ]


async def test_a_config_map_of_another_client_is_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api()
    theirs = {"metadata": {"name": "app-unchanged-0"}, "data": {"mine": "x"}}
    api.found["app-unchanged-0"] = dict(theirs)
    store = ConfigMapStore(api, "ops", "app")
    assert await store.read(0) == b""
    await store.write(0, b"one")
    assert api.found["app-unchanged-0"] == theirs
    assert len(caplog.records) == 1


async def test_missing_right_is_reported_with_the_way_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api()
    api.refuses = True
    store = ConfigMapStore(api, "ops", "app")
    for _ in range(2):
        assert await store.read(0) == b""
        await store.write(0, b"one")
    (reported,) = caplog.records
    assert reported.message == "may not keep which runs need not be made; a restart makes all"


async def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    assert await store.read(1) == b""
    await store.write(1, b"one")
    assert await store.read(1) == b"one"
    file = tmp_path / "unchanged-1.z"
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"no zip", zlib.compress(b"x" * 1000)[:-5], b""])
async def test_a_garbled_file_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    (tmp_path / "unchanged-1.z").write_bytes(content)
    assert await FileStore(tmp_path).read(1) == b""
    assert "is garbled" in caplog.text
