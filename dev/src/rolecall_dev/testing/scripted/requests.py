"""Requests of a scripted run: over HTTP, through the engine's proxy, with the run's own credential.

The methods send what the modules of `kubernetes.core` send for the same purpose, so the engine's record
of a scripted run looks like that of a role. Kinds are looked up once and kept, as the modules do it in
a file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import yaml

from rolecall.json_object import Json

_JSON = "application/json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"
# The official client of Python, which the modules use: the API server notes it as field manager.
_AGENT = "OpenAPI-Generator/32.0.1/python"
_UNSUPPORTED_TYPE = 415


class RequestFailed(Exception):  # noqa: N818 - reads like the failed task that it becomes
    """The API server, or the proxy, rejected a request."""

    def __init__(self, doing: str, answer: ProxyAnswer) -> None:
        super().__init__(f"Failed to {doing} object: {answer.body!r}")
        self.code = answer.code
        self.answer = answer


@dataclass(frozen=True, slots=True)
class ProxyAnswer:
    """The answer to one request."""

    code: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Json:
        """The body as an object."""
        found: Json = json.loads(self.body)
        return found


@dataclass(slots=True)
class KnownKinds:
    """Plural and scope of kinds, by API version and kind; shared by the runs of a `ScriptedPlay`."""

    found: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)


class ProxySession:
    """One run's connection to the proxy."""

    def __init__(self, kubeconfig: Path, kinds: KnownKinds) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        server = urlsplit(config["clusters"][0]["cluster"]["server"])
        user = config["users"][0]["user"]
        # Not `localhost`, whose look-up takes a thread.
        self._base = f"{server.scheme}://127.0.0.1:{server.port}"
        login = base64.b64encode(f"{user['username']}:{user['password']}".encode()).decode()
        self._headers = {
            "Authorization": f"Basic {login}",
            "User-Agent": _AGENT,
            "Accept": _JSON,
        }
        self._http: aiohttp.ClientSession | None = None
        self._kinds = kinds
        self.is_frozen: Callable[[], bool] = lambda: False

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ProxyAnswer:
        if self.is_frozen():
            raise RuntimeError("a run that was stopped must not send requests")
        if self._http is None:
            self._http = aiohttp.ClientSession(headers=self._headers)
        async with self._http.request(
            method, f"{self._base}{path}", data=body, headers=headers
        ) as response:
            return ProxyAnswer(response.status, await response.read(), dict(response.headers))

    async def path_of(self, api_version: str, kind: str, namespace: str) -> str:
        """Where objects of a kind are: `/api/v1/namespaces/x/configmaps`."""
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        known = self._kinds.found
        if (api_version, kind) not in known:
            answer = await self.send("GET", root)
            if answer.code != 200:
                raise RequestFailed(f"find kind {kind} of {api_version} for the", answer)
            for row in answer.json["resources"]:
                if "/" not in row["name"]:
                    known[api_version, row["kind"]] = (row["name"], bool(row["namespaced"]))
        if (api_version, kind) not in known:
            raise LookupError(f"{api_version} does not have kind {kind}")
        plural, is_namespaced = known[api_version, kind]
        return f"{root}/namespaces/{namespace}/{plural}" if is_namespaced else f"{root}/{plural}"


class Requests:
    """What a script can ask the API server for; `ScriptedRun` and `ScriptedTask` have these methods."""

    def __init__(self, session: ProxySession, namespace: str) -> None:
        self._session = session
        self.namespace = namespace  # that of the CR

    def _read(self, found: list[Json]) -> None:
        """Called with the objects that a request returned."""

    def _wrote(self, result: Json, method: str, *, changed: bool) -> None:
        """Called after each write."""

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = _JSON,
        headers: Mapping[str, str] | None = None,
    ) -> ProxyAnswer:
        """Send any request, to any path with any query; the answer is not judged."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        more = {"Content-Type": content_type} if sent is not None else {}
        return await self._session.send(method, path, sent, {**more, **(headers or {})})

    async def get(
        self, api_version: str, kind: str, name: str, namespace: str | None = None
    ) -> Json | None:
        """Read one object, as `k8s_info` with a name does; None: it does not exist."""
        path = await self._path(api_version, kind, namespace)
        answer = await self.request("GET", f"{path}/{name}")
        if answer.code == 404:
            return None
        found = _expected(answer, "get")
        self._read([found])
        return found

    async def list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> list[Json]:
        """List objects, as `k8s_info` without a name does. Labels are written as in kubectl."""
        path = await self._path(api_version, kind, namespace)
        query = f"fieldSelector={_quoted(fields)}&labelSelector={_quoted(labels)}"
        answer = await self.request("GET", f"{path}?{query}")
        items: list[Json] = _expected(answer, "list")["items"]
        self._read(items)
        return items

    async def present(self, definition: Mapping[str, Any]) -> Json:
        """Create or patch, as `k8s` does: read it, then POST, or PATCH even if nothing is different."""
        path, name = await self._place_of(definition)
        before = await self.request("GET", f"{path}/{name}")
        if before.code == 404:
            return await self.create(definition)
        _expected(before, "get")
        answer = await self.request("PATCH", f"{path}/{name}", definition, content_type=_STRATEGIC)
        if answer.code == _UNSUPPORTED_TYPE:  # a custom resource
            answer = await self.request("PATCH", f"{path}/{name}", definition, content_type=_MERGE)
        after = _expected(answer, "patch")
        self._wrote(after, "update", changed=_is_changed(before.json, after))
        return after

    async def create(self, definition: Mapping[str, Any]) -> Json:
        """POST an object."""
        path, _ = await self._place_of(definition)
        created = _expected(await self.request("POST", path, definition), "create")
        self._wrote(created, "create", changed=True)
        return created

    async def replace(self, definition: Mapping[str, Any]) -> Json:
        """PUT an object, as `k8s` with `force` does."""
        path, name = await self._place_of(definition)
        before = _expected(await self.request("GET", f"{path}/{name}"), "get")
        version = {"resourceVersion": before["metadata"]["resourceVersion"]}
        body = {**definition, "metadata": {**definition["metadata"], **version}}
        after = _expected(await self.request("PUT", f"{path}/{name}", body), "replace")
        self._wrote(after, "replace", changed=_is_changed(before, after))
        return after

    async def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: object,
        namespace: str | None = None,
        *,
        content_type: str = _MERGE,
    ) -> Json:
        """PATCH an object without reading it before; the patch is of any type."""
        path = await self._path(api_version, kind, namespace)
        answer = await self.request("PATCH", f"{path}/{name}", patch, content_type=content_type)
        after = _expected(answer, "patch")
        self._wrote(after, "patch", changed=True)
        return after

    async def apply(self, definition: Mapping[str, Any], *, manager: str = "Ansible") -> Json:
        """Server-side apply."""
        path, name = await self._place_of(definition)
        target = f"{path}/{name}?fieldManager={_quoted(manager)}&force=true"
        answer = await self.request("PATCH", target, definition, content_type=_APPLY)
        after = _expected(answer, "apply")
        self._wrote(after, "apply", changed=True)
        return after

    async def absent(
        self, api_version: str, kind: str, name: str, namespace: str | None = None
    ) -> None:
        """Delete, as `k8s` with `state: absent` does: read it, and DELETE it if it exists."""
        path = await self._path(api_version, kind, namespace)
        before = await self.request("GET", f"{path}/{name}")
        if before.code == 404:
            return
        answer = await self.request("DELETE", f"{path}/{name}")
        if answer.code != 404:
            _expected(answer, "delete")
            self._wrote({}, "delete", changed=True)

    async def patch_status(
        self,
        api_version: str,
        kind: str,
        name: str,
        status: Mapping[str, Any],
        namespace: str | None = None,
    ) -> Json:
        """PATCH the status of an object, as `operator_sdk.util.k8s_status` does."""
        path = await self._path(api_version, kind, namespace)
        answer = await self.request(
            "PATCH", f"{path}/{name}/status", {"status": status}, content_type=_MERGE
        )
        after = _expected(answer, "patch")
        self._wrote(after, "patch", changed=True)
        return after

    async def _path(self, api_version: str, kind: str, namespace: str | None) -> str:
        where = self.namespace if namespace is None else namespace
        return await self._session.path_of(api_version, kind, where)

    async def _place_of(self, definition: Mapping[str, Any]) -> tuple[str, str]:
        metadata = definition["metadata"]
        api_version, kind = str(definition["apiVersion"]), str(definition["kind"])
        path = await self._path(api_version, kind, metadata.get("namespace"))
        return path, str(metadata.get("name") or "")


def _expected(answer: ProxyAnswer, doing: str) -> Json:
    if answer.code >= 300:
        raise RequestFailed(doing, answer)
    return answer.json


def _is_changed(before: Json, after: Json) -> bool:
    return bool(before["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"])


def _quoted(text: str) -> str:
    return quote(text, safe="")
