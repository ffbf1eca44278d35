"""Each shape of a request, times what can happen to what it read: a run follows each change.

Each cell is judged for a key that is alone, which asks for its objects one by one, and for one that
waits in line, which shares lists.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.errors import RolecallError
from rolecall.extensions.skip import ProjectDigests
from rolecall.record import RecordedRequest
from rolecall.record.answers import seen_in
from rolecall.runner import configuration_of, inputs_of
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from rolecall.workqueue import PERIOD, START, Turn, Urgency
from tests.unit.extensions.skip.conftest import KEY, READ, World, cr


class RefusedError(RolecallError):
    """A read that is not answered."""


@dataclass
class Server:
    """Answers reads of metadata, as far as these tests ask; `versioned`: with resource versions."""

    objects: dict[str, str] = field(default_factory=dict)  # path: version
    documents: dict[str, str] = field(default_factory=dict)  # of what is about no object
    is_refusing: bool = False
    versioned: bool = True

    async def read_bytes(self, path: str, *, accept: str = "") -> bytes:
        bare = path.partition("?")[0]
        if bare in ("/api", "/apis", "/openapi/v3", "/version"):
            return self.documents.get(bare, "as ever").encode()
        if self.is_refusing:
            raise RefusedError(path)
        found = self.answer(bare)
        return b"" if found is None else json.dumps(found).encode()

    def answer(self, path: str) -> Any:
        if path in self.objects:
            return {"kind": "PartialObjectMetadata", "metadata": self._metadata(path)}
        if path.rpartition("/")[2] not in ("secrets", "nodes", "namespaces", "apps"):
            return None
        below = [each for each in self.objects if self._is_in(each, path)]
        items = [{"metadata": self._metadata(each)} for each in below]
        return {"kind": "PartialObjectMetadataList", "metadata": {}, "items": items}

    def _is_in(self, path: str, collection: str) -> bool:
        if path.startswith(f"{collection}/") and "/" not in path[len(collection) + 1 :]:
            return True
        root, _, plural = collection.rpartition("/")
        place, _, _name = path.rpartition("/")
        return place.startswith(f"{root}/namespaces/") and place.endswith(f"/{plural}")

    def _metadata(self, path: str) -> dict[str, str]:
        parts = path.split("/")
        is_inside = "namespaces" in parts and parts[-2] != "namespaces"
        namespace = parts[parts.index("namespaces") + 1] if is_inside else ""
        metadata = {"name": parts[-1], "uid": f"u{path}"}
        metadata |= {"namespace": namespace} if namespace else {}
        return {**metadata, "resourceVersion": self.objects[path]} if self.versioned else metadata


SECRET = "/api/v1/namespaces/shop/secrets/key"
NODE = "/api/v1/nodes/one"
NAMESPACE = "/api/v1/namespaces/other"
CUSTOM = "/apis/demo.example.com/v1/namespaces/shop/apps/second"


@dataclass(frozen=True)
class Shape:
    """A request, and the object that it shows."""

    path: str
    about: dict[str, str]
    listed: str = ""  # the path of a list

    def request(self, server: Server) -> RecordedRequest:
        """As it is recorded of a run now."""
        path = self.listed or self.path
        found = server.answer(path)
        empty = {"object_version": "", "uid": "", "name": "", "namespace": ""}
        values: dict[str, Any] = {"verb": "list" if self.listed else "get", **empty, **self.about}
        blank = replace(READ, **values)
        if found is None:
            return replace(blank, code=404)
        seen = seen_in("application/json", json.dumps(found).encode(), lambda _: False)
        return replace(
            blank,
            object_version=seen.object_version,
            uid=seen.uid,
            items=seen.items,
            items_digest=seen.items_digest,
            unread=seen.unread,
        )


IN_SHOP = {"resource": "secrets", "namespace": "shop"}
APP = {"group": "demo.example.com", "resource": "apps", "namespace": "shop"}
SHAPES = {
    "an object": Shape(SECRET, {**IN_SHOP, "name": "key"}),
    "an object of the cluster": Shape(NODE, {"resource": "nodes", "name": "one"}),
    "a Namespace": Shape(
        NAMESPACE, {"resource": "namespaces", "namespace": "other", "name": "other"}
    ),
    "a CR": Shape(CUSTOM, {**APP, "name": "second"}),
    "its status": Shape(CUSTOM, {**APP, "name": "second", "subresource": "status"}),
    "its scale": Shape(CUSTOM, {**APP, "name": "second", "subresource": "scale"}),
    "a list": Shape(SECRET, IN_SHOP, "/api/v1/namespaces/shop/secrets"),
    "a list of all namespaces": Shape(SECRET, {"resource": "secrets"}, "/api/v1/secrets"),
    "a list of the cluster": Shape(NODE, {"resource": "nodes"}, "/api/v1/nodes"),
    "a list of namespaces": Shape(NAMESPACE, {"resource": "namespaces"}, "/api/v1/namespaces"),
    "a list by labels": Shape(
        SECRET, {**IN_SHOP, "query": "labelSelector=a%3Db"}, "/api/v1/namespaces/shop/secrets"
    ),
    "a list by fields": Shape(
        SECRET, {**IN_SHOP, "query": "fieldSelector=type%3Dx"}, "/api/v1/namespaces/shop/secrets"
    ),
    "a part of a list": Shape(
        SECRET, {**IN_SHOP, "query": "limit=1"}, "/api/v1/namespaces/shop/secrets"
    ),
    "a log": Shape(SECRET, {**IN_SHOP, "name": "key", "subresource": "log"}),
    "a watch": Shape(SECRET, {**IN_SHOP, "verb": "watch"}, "/api/v1/namespaces/shop/secrets"),
    "a dry run": Shape(SECRET, {**IN_SHOP, "name": "key", "verb": "patch", "query": "dryRun=All"}),
    "a review": Shape(
        SECRET, {"resource": "selfsubjectaccessreviews", "verb": "create", "name": ""}
    ),
}
CHANGES = ("appears", "changes", "disappears", "becomes unreadable", "is made anew")


async def judged(world: World, *, in_line: bool) -> str:
    world.clock.passed_s += 20.0
    turn = Turn(KEY, Urgency.STARTUP, 5.0 if in_line else 0.0, START if in_line else PERIOD)
    return await world.skips.why_no_run(turn, world.watch, cr(), 3600.0)


@pytest.mark.slow
@pytest.mark.parametrize("versioned", [True, False], ids=["versions", "no versions"])
@pytest.mark.parametrize("in_line", [False, True], ids=["alone", "in line"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_change_of_what_a_request_showed_brings_a_run(
    world: World, shape: Shape, change: str, in_line: bool, versioned: bool
) -> None:
    server = Server(versioned=versioned)
    world.api, world.skips = server, world.skips  # type: ignore[assignment]
    world.skips = world.started()
    if change != "appears":
        server.objects[shape.path] = "7"
    await world.run(shape.request(server))
    if change == "disappears":
        del server.objects[shape.path]
    elif change == "becomes unreadable":
        server.is_refusing = True
    else:
        server.objects[shape.path] = "8"
    assert not await judged(world, in_line=in_line)


@pytest.mark.parametrize("in_line", [False, True], ids=["alone", "in line"])
@pytest.mark.parametrize("is_there", [True, False], ids=["there", "missing"])
@pytest.mark.parametrize("shape", list(SHAPES)[:12])
async def test_what_is_as_it_was_brings_none(
    world: World, shape: str, is_there: bool, in_line: bool
) -> None:
    server = Server()
    world.api = server  # type: ignore[assignment]
    world.skips = world.started()
    if is_there:
        server.objects[SHAPES[shape].path] = "7"
    await world.run(SHAPES[shape].request(server))
    assert await judged(world, in_line=in_line)


@pytest.mark.parametrize("path", ["/api", "/apis", "/openapi/v3", "/version"])
async def test_change_of_what_the_server_is_brings_a_run(world: World, path: str) -> None:
    server = Server()
    world.api = server  # type: ignore[assignment]
    world.skips = world.started()
    await world.run(replace(READ, resource="", name="", path=path))
    assert await judged(world, in_line=False)
    server.documents[path] = "another default"
    assert not await judged(world, in_line=False)


@pytest.mark.parametrize("path", ["/healthz", "/readyz?verbose", "/metrics", "/logs/x", "/x"])
async def test_answer_that_is_about_no_object_brings_a_run(world: World, path: str) -> None:
    await world.run(replace(READ, resource="", name="", path=path))
    assert not await world.why()


@pytest.mark.parametrize(
    "name", ["ANSIBLE_HASH_BEHAVIOUR", "K8S_AUTH_VERIFY_SSL", "TZ", "LANG", "LC_ALL", "PYTHONPATH"]
)
@pytest.mark.parametrize("change", ["appears", "changes", "disappears"])
async def test_change_of_a_configuring_variable_brings_a_run(
    world: World, name: str, change: str
) -> None:
    absent, present = {"TIER": "gold"}, {"TIER": "gold", name: "1"}
    world.environment = absent if change == "appears" else present
    world.skips = world.started()
    await world.run(READ)
    await world.skips.write()
    world.environment = {"changes": {**present, name: "2"}, "appears": present}.get(change, absent)
    world.skips = world.started()
    assert not await world.why()


@pytest.mark.parametrize("change", ["appears", "changes", "disappears", "becomes unreadable"])
@pytest.mark.parametrize(
    "name", ["inventory", "inventory/hosts", "named.cfg", "home/.ansible.cfg", "cwd/ansible.cfg"]
)
def test_change_of_inventory_or_configuration_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: World, name: str, change: str
) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    environment = {"ANSIBLE_CONFIG": str(tmp_path / "named.cfg"), "HOME": str(tmp_path / "home")}
    settings = RunnerSettings(inventory=tmp_path / "inventory")

    def look() -> str:
        paths = (*inputs_of(play, settings), *configuration_of(environment))
        return ProjectDigests(lambda _: paths, world.clock).look(play)

    play, file = Play(world.role, is_role=True), tmp_path / name
    file.parent.mkdir(exist_ok=True)
    if change != "appears":
        file.write_text("[defaults]\n")
    before = look()
    file.unlink(missing_ok=True)
    if change in ("appears", "changes"):
        file.write_text("[defaults]\nforks = 1\n")
    elif change == "becomes unreadable":
        file.symlink_to(file)
    assert look() != before


async def test_run_that_is_said_to_be_in_the_future_is_made_again(world: World) -> None:
    world.clock.passed_s += 7200.0
    await world.run(READ)
    world.clock.passed_s -= 3600.0
    assert not await world.why()
