"""A reader of the page without a browser, and users of the cluster that it is shown to."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import itertools
import json
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field

from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import EngineProcess

# Namespaced rules: what each user may do in one namespace.
RULES = {
    "chief": [("get,list,patch", "memcacheds"), ("get", "memcacheds/log"), ("get", "configmaps")],
    "reader": [("get,list", "memcacheds")],
    "stranger": [("get", "configmaps")],
}


_NUMBERS = itertools.count(1)


def _new_address() -> str:
    """Another address of this machine: the page limits how often one address logs in."""
    return str(ipaddress.ip_address("127.1.0.0") + next(_NUMBERS))


@dataclass
class Browser:
    """Speaks HTTP as a browser does: keeps its cookie, goes where it is sent."""

    port: int
    token: str = ""  # sent each time, as a program does it
    cookies: dict[str, str] = field(default_factory=dict)
    answer: dict[str, str] = field(default_factory=dict)  # headers of the last one
    address: str = field(default_factory=_new_address)

    def asks(
        self, path: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """The code and text in the end."""
        for _ in range(5):
            answer, text = self._asks_once(path, form, headers or {})
            if answer.status != 303:
                return answer.status, text
            path, form = answer.headers["Location"], None
        raise AssertionError(f"it leads in a circle: {path}")

    def form_token(self) -> str:
        """What forms of this session bring along."""
        found = re.search(r'data-form-token="([^"]+)"', self.asks("/")[1])
        assert found is not None
        return found[1]

    def does(self, path: str, **form: str) -> tuple[int, str]:
        """Send a form of the page."""
        return self.asks(path, {"form_token": self.form_token(), **form})

    def events(self, path: str, last: str = "") -> Iterator[tuple[str, str, object]]:
        """Kind, number and data of each server-sent event."""
        connection = self._connection(timeout_s=120)
        headers = self._headers() | ({"Last-Event-ID": last} if last else {})
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        reported: dict[str, str] = {}
        with contextlib.closing(connection), answer:
            while line := answer.readline().decode():
                name, _, value = line.rstrip("\n").partition(": ")
                if name:
                    reported[name] = value
                elif "event" in reported:
                    yield reported["event"], reported["id"], json.loads(reported["data"])
                    reported = {}

    def _asks_once(
        self, path: str, form: dict[str, str] | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = self._connection(timeout_s=60)
        sent, body = self._headers() | headers, None
        if form is not None:
            body = urllib.parse.urlencode(form)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        with contextlib.closing(connection):
            connection.request("GET" if form is None else "POST", path, body, sent)
            with connection.getresponse() as answer:
                text = answer.read().decode()
                self.answer = dict(answer.headers)
                for line in answer.headers.get_all("Set-Cookie") or ():
                    name, _, rest = line.partition("=")
                    self.cookies[name] = rest.partition(";")[0].strip('"')
        return answer, text

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        here = (self.address, 0)
        return http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=timeout_s, source_address=here
        )

    def _headers(self) -> dict[str, str]:
        if self.token:
            return {"Authorization": f"Bearer {self.token}"}
        reported = "; ".join(f"{name}={value}" for name, value in self.cookies.items() if value)
        return {"Cookie": reported} if reported else {}


def local_address(engine: EngineProcess) -> str:
    """The path that was printed, with its token."""
    found = re.search(r'page to look at.*address="?http://127\.0\.0\.1:\d+(/[^\s"]*)', engine.log)
    assert found is not None, engine.log
    return found[1]


def token_of(cluster: Cluster, namespace: str, user: str) -> str:
    """A ServiceAccount with its rules in this namespace; returns a token of it."""
    cluster.kubectl("create", "serviceaccount", user, "-n", namespace)
    for number, (verbs, resource) in enumerate(RULES[user]):
        name = f"{user}-{number}"
        rule = [f"--verb={verbs}", f"--resource={resource}"]
        if resource.startswith("memcacheds"):
            plural, _, subresource = resource.partition("/")
            whole = f"{plural}.cache.example.com" + (f"/{subresource}" if subresource else "")
            rule[1] = f"--resource={whole}"
        cluster.kubectl("create", "role", name, "-n", namespace, *rule)
        who = f"--serviceaccount={namespace}:{user}"
        cluster.kubectl("create", "rolebinding", name, "-n", namespace, f"--role={name}", who)
    return cluster.kubectl("create", "token", user, "-n", namespace).strip()
