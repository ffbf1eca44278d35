"""A few plain requests to the API server, for the time when nothing else of it is used yet.

Starting a cluster needs "are you ready?" and four objects; the fixtures need a namespace and a token.
This is not a client for the engine: that is the room `kube`, which is asynchronous, and cannot be
used from a command that starts processes and waits for them. Standard library only.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import ClusterError
from rolecall_dev.localcluster.identities import KeyPair
from rolecall_dev.sources import filled_in

_WATCH_S = 600  # the connection's patience; the API server ends a watch sooner


class Api:
    """Requests as one user, each on a connection of its own."""

    def __init__(self, port: int, authority: Path, pair: KeyPair, host: str = "127.0.0.1") -> None:
        self._host, self._port = host, port
        # Not `create_default_context`: since Python 3.13 it refuses the certificates of clusters that
        # an older version of us made, for what they lack in form.
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._context.load_verify_locations(cafile=authority)
        self._context.load_cert_chain(pair.certificate, pair.key)

    def get(self, path: str) -> Any:
        return self._request("GET", path, None)

    def create(self, path: str, body: dict[str, Any]) -> Any:
        """Create; an object that is there already is as good."""
        return self._request("POST", path, body, accepted=(200, 201, 202, 409))

    def delete(self, path: str) -> Any:
        """Delete; an object that is gone already is as good."""
        return self._request("DELETE", path, None, accepted=(200, 202, 404))

    def patch(self, path: str, change: dict[str, Any]) -> Any:
        """Merge the change into the object."""
        return self._request("PATCH", path, change, accepted=(200, 404))

    def watch(self, path: str) -> Iterator[dict[str, Any]]:
        """Events of a list from now on, until the API server or the connection ends it."""
        connection = self._connect(_WATCH_S)
        try:
            connection.request("GET", f"{path}?watch=1&timeoutSeconds={_WATCH_S // 2}")
            response = connection.getresponse()
            if response.status != 200:
                raise ClusterError(f"watching {path} was refused ({response.status})")
            while line := response.readline():
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ClusterError(f"the watch of {path} broke: {error}") from error
        finally:
            connection.close()

    def is_ready(self, timeout_s: float = 1.0) -> bool:
        """Whether the API server says of itself that it is."""
        try:
            return self._send("GET", "/readyz", None, timeout_s)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _request(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        *,
        accepted: tuple[int, ...] = (200,),
    ) -> Any:
        try:
            status, content = self._send(method, path, body, 30)
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(
                f"the API server at {self._host}:{self._port} did not answer: {error}",
                hint="`rolecall cluster status` shows which components run",
            ) from error
        if status not in accepted:
            raise ClusterError(f"{method} {path} was refused ({status}): {_message(content)}")
        return json.loads(content)

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None, timeout_s: float
    ) -> tuple[int, bytes]:
        connection = self._connect(timeout_s)
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            connection.request(
                method,
                path,
                body=None if body is None else json.dumps(body),
                headers={"Content-Type": content_type},
            )
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def _connect(self, timeout_s: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_s, context=self._context
        )


def _message(content: bytes) -> str:
    """What a Status says; nothing else of an answer is repeated, it may carry a Secret."""
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return "no reason given"


_OBJECTS = Path(__file__).parent


# What an empty cluster gets so that work can begin: nodes and a default StorageClass.
def create_first_objects(api: Api, nodes: int) -> None:
    """Create what is missing and remove nodes too many; running it again changes nothing."""
    storage_class = yaml.safe_load((_OBJECTS / "storage_class.yaml").read_text())
    api.create("/apis/storage.k8s.io/v1/storageclasses", storage_class)
    wanted = {f"node-{number}" for number in range(1, nodes + 1)}
    present = {node["metadata"]["name"] for node in api.get("/api/v1/nodes")["items"]}
    node = (_OBJECTS / "node.yaml").read_text()
    for name in sorted(wanted - present):
        api.create("/api/v1/nodes", yaml.safe_load(filled_in(node, {"name": name})))
    for name in sorted(present - wanted):
        api.delete(f"/api/v1/nodes/{name}")


def can_run_pods(api: Api) -> bool:
    """Whether pods could be made and would run: the proof that every component does its work."""
    accounts = api.get("/api/v1/namespaces/default/serviceaccounts")["items"]
    nodes = api.get("/api/v1/nodes")["items"]
    return bool(accounts) and all(_is_ready(node) for node in nodes)


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
