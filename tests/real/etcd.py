"""An etcd cluster as its users see it: through its Service, by etcd's own HTTP gateway.

The machine reaches cluster addresses, so keys are written and members are asked from here, without the
role's help: what it reports is compared with what etcd says.
"""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall_dev.localcluster import ETCD
from tests.fixtures.eventually import eventually
from tests.real.world import OFTEN, PATIENCE_S, World, is_ready

_REQUEST_S = 3.0
_NO_ONE = (503, 504)  # no leader, no quorum, no answer in time
# Refused writes are fine while a leader is elected or a connection finds its member gone, no longer. As
# long as a Service names a frozen member, each third connection costs `_REQUEST_S`, several in a row at
# times; a lost quorum costs more than this, since the members that a write waits for are not there.
MOMENT_S = 30.0
_BREAK_S = 0.05  # between two writes
REFUSALS = (OSError, ValueError, HTTPException)  # of a member that goes, or an answer cut short


@dataclass(frozen=True)
class Etcd:
    """One EtcdCluster."""

    world: World
    name: str
    is_sealed: bool = False  # clients show a certificate

    @property
    def scheme(self) -> str:
        return "https" if self.is_sealed else "http"

    def context(self) -> ssl.SSLContext | None:
        """As a client of the cluster, by the Secret that is made for clients."""
        if not self.is_sealed:
            return None
        data = self.world.get("secret", f"{self.name}-client-tls")["data"]
        found = {name: base64.b64decode(value).decode() for name, value in data.items()}
        context = ssl.create_default_context(cadata=found["ca.crt"])
        context.check_hostname = False  # the address of a Service is in no certificate
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(found["tls.crt"] + found["tls.key"])
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def apply(self, **spec: Any) -> None:
        """Create it or change it."""
        defaults = {"image": ETCD, "storageSize": "128Mi", "backupSize": "64Mi"}
        self.world.apply(
            {
                "apiVersion": "mycompany.com/v1alpha1",
                "kind": "EtcdCluster",
                "metadata": {"name": self.name, "annotations": OFTEN},
                "spec": defaults | spec,
            }
        )

    @property
    def cr(self) -> Json:
        return self.world.get("etcdcluster", self.name)

    def wait_healthy(self, replicas: int, version: str) -> Json:
        """Wait until role and etcd agree that all is well."""
        cr = eventually(
            lambda: self.cr,
            lambda cr: is_ready(cr) and cr["status"]["progress"] == f"{replicas}/{replicas}",
            timeout_s=PATIENCE_S,
        )
        assert cr["status"]["version"] == version
        assert [member["name"] for member in cr["status"]["members"]] == self.pods(replicas)
        # A member that just left may be asked for a moment longer.
        voters = {pod: "voter" for pod in self.pods(replicas)}
        eventually(self.members, lambda now: now == voters, timeout_s=PATIENCE_S)
        # A member whose node was frozen a moment ago answers when its machine gets round to it.
        look = ("etcdctl", "endpoint", "status", "--cluster", "--write-out=table")
        table = eventually(
            lambda: self.world.execute(f"{self.name}-0", *look),
            lambda table: table.count(f"{self.scheme}://") == replicas,
            timeout_s=PATIENCE_S,
            ignoring=(ClusterError,),
        )
        print(table)
        return cr

    def pods(self, count: int) -> list[str]:
        """Names of so many members."""
        return [f"{self.name}-{number}" for number in range(count)]

    def ask(self, path: str, body: Json | None = None) -> Json:
        """A call of etcd's gateway, through the Service; again where no member answered.

        What the role said a moment ago may be older than what was done to a member since.
        """
        address = self.world.get("service", f"{self.name}-client")["spec"]["clusterIP"]
        context = self.context()

        def answer() -> Json | HTTPError:
            try:
                return ask(address, path, body, context)
            except HTTPError as refusal:
                refusal.close()
                if refusal.code in _NO_ONE:
                    raise
                return refusal

        found = eventually(answer, lambda _: True, timeout_s=PATIENCE_S, ignoring=REFUSALS)
        if isinstance(found, HTTPError):
            raise found
        return found

    def members(self) -> dict[str, str]:
        """What etcd itself says: name to `voter`, `learner` or `unstarted`."""
        return members_at(self.ask, self.name)

    def put(self, key: str, value: str) -> None:
        self.ask("/v3/kv/put", {"key": coded(key), "value": coded(value)})

    def get(self, key: str) -> str | None:
        found = self.ask("/v3/kv/range", {"key": coded(key)}).get("kvs")
        return base64.b64decode(found[0]["value"]).decode() if found else None

    def remove_all(self) -> None:
        """Every key, as a user's mistake would."""
        self.ask("/v3/kv/deleterange", {"key": coded("\0"), "range_end": coded("\0")})

    def fill(self, count: int = 50) -> dict[str, str]:
        """Write keys; returns them."""
        keys = {f"key-{number}": f"value-{number}" for number in range(count)}
        for key, value in keys.items():
            self.put(key, value)
        return keys

    def has(self, keys: dict[str, str]) -> bool:
        return all(self.get(key) == value for key, value in keys.items())


@dataclass
class Witness:
    """Writes without a pause while something happens, and remembers what it was refused and saw."""

    etcd: Etcd
    written: int = 0  # the last number that etcd accepted
    refused: list[str] = field(default_factory=list)
    longest_gap_s: float = 0.0  # without an accepted write
    lists: list[dict[str, str]] = field(default_factory=list)  # of members, whenever they changed
    request_s: float = _REQUEST_S
    _end: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Witness:
        self._address = self.etcd.world.get("service", f"{self.etcd.name}-client")["spec"][
            "clusterIP"
        ]
        self._context = self.etcd.context()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._thread is not None
        self._end.set()
        self._thread.join()
        print(
            f"{self.written} writes, {len(self.refused)} refused, longest gap "
            f"{self.longest_gap_s:.2f} s, member lists: {self.lists}, refusals: "
            f"{Counter(each.partition(': ')[2] for each in self.refused)}"
        )

    @property
    def is_kept(self) -> bool:
        """Whether the last write that was accepted is there; one without an answer may be, too."""
        return int(self.etcd.get("witness") or 0) >= self.written

    def _watch(self) -> None:
        accepted_at = time.monotonic()
        while not self._end.wait(_BREAK_S):
            value = coded(str(self.written + 1))
            try:
                self._ask("/v3/kv/put", {"key": coded("witness"), "value": value})
            except REFUSALS as error:
                self.refused.append(f"{time.monotonic() - accepted_at:.2f} s: {error}")
                self._context = self.etcd.context()  # its Secret may have changed
                continue
            now = time.monotonic()
            self.longest_gap_s = max(self.longest_gap_s, now - accepted_at)
            self.written, accepted_at = self.written + 1, now
            self._look()

    def _look(self) -> None:
        try:
            seen = members_at(self._ask, self.etcd.name)
        except REFUSALS:
            return
        if not self.lists or self.lists[-1] != seen:
            self.lists.append(seen)

    def _ask(self, path: str, body: Json | None = None) -> Json:
        return ask(self._address, path, body, self._context, self.request_s)


def ask(
    address: str,
    path: str,
    body: Json | None = None,
    context: ssl.SSLContext | None = None,
    request_s: float = _REQUEST_S,
) -> Json:
    """One request on a connection of its own, so that each may reach another member."""
    url = f"{'https' if context else 'http'}://{address}:2379{path}"
    request = urllib.request.Request(url, json.dumps(body or {}).encode())
    with urllib.request.urlopen(request, timeout=request_s, context=context) as answer:
        found: Json = json.load(answer)
    return found


def members_at(ask_one: Any, name: str) -> dict[str, str]:
    """Members by name; one that has not started yet is known by its address."""
    found = {}
    for member in ask_one("/v3/cluster/member/list")["members"]:
        pod = member.get("name") or member["peerURLs"][0].split("//")[1].split(".")[0]
        state = "learner" if member.get("isLearner") else "voter"
        found[pod] = state if member.get("name") else "unstarted"
    return dict(sorted(found.items()))


def coded(text: str) -> str:
    """As etcd's gateway wants keys and values."""
    return base64.b64encode(text.encode()).decode()
