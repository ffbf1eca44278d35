"""`rolecall page`: the page of the pod that leads, on this machine, with the login of a kubeconfig."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from rolecall.json_object import Json
from tests.unit.remote_engine.fake_cluster import (
    FakeCluster,
    controller,
    fake_cluster,
    lease,
    pod,
)
from tests.unit.remote_engine.test_relay import environ, rolecall

BOUND = ["--page-bind-address=127.0.0.1:8090"]


class Reported(BaseHTTPRequestHandler):
    """A page that says who asks."""

    def do_GET(self) -> None:
        body = f"{self.path} for {self.headers['Authorization']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def page_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Reported) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def cluster(tmp_path: Path, page_port: int) -> Iterator[FakeCluster]:
    """Whose kubeconfig logs in with a token."""
    with fake_cluster(tmp_path) as found:
        found.page = page_port
        found.objects["pods"] = [pod("web-1", args=BOUND), pod("web-2", args=BOUND)]
        found.objects["leases"] = [lease("web-2")]
        document = yaml.safe_load(found.kubeconfig.read_text())
        document["users"] = [{"name": "me", "user": {"token": "mine"}}]
        document["contexts"][0]["context"]["user"] = "me"
        found.kubeconfig.write_text(yaml.safe_dump(document))
        yield found


def get(port: int, path: str, cookie: str = "") -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_page_of_the_leader_is_shown_to_who_has_the_printed_address(cluster: FakeCluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        free = reserved.getsockname()[1]
    words = ["page", "--no-open", "--operator", "ops/web", f"--port={free}"]
    command = [sys.executable, "-m", "rolecall", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environ(cluster), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        assert address.port == free
        port = free
        assert get(port, "/crs")[0].status == 403
        entered, _ = get(port, f"{address.path}?{address.query}")
        assert (entered.status, entered.headers["Location"]) == (303, "/")
        cookie = entered.headers["Set-Cookie"].partition(";")[0]
        assert get(port, "/crs?name=a", cookie)[1] == "/crs?name=a for Bearer mine"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "engine of pod ops/web-2 leads" in said
    assert "Traceback" not in said


def test_port_that_is_named_and_taken_is_reported(cluster: FakeCluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
        said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web", f"--port={port}")
    assert said.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in said.stderr
    assert "Traceback" not in said.stderr


def test_address_in_a_variable_of_the_pod_is_found(cluster: FakeCluster) -> None:
    variable = {"name": "ROLECALL_PAGE_BIND_ADDRESS", "value": "wrong"}
    cluster.objects["pods"] = [pod("web-2", env=[variable])]  # type: ignore[list-item]
    said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web")
    assert (said.returncode, "`wrong` is not an address" in said.stderr) == (2, True)


def test_operator_without_a_page_is_reported_with_the_way_out(cluster: FakeCluster) -> None:
    cluster.objects["pods"] = [pod("web-2")]
    said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web")
    assert said.returncode == 3
    assert "serves no page" in said.stderr
    assert "--page-bind-address=:8090" in said.stderr


def test_kubeconfig_without_a_token_is_reported_with_the_way_out(cluster: FakeCluster) -> None:
    document = yaml.safe_load(cluster.kubeconfig.read_text())
    document["users"][0]["user"] = {}
    cluster.kubeconfig.write_text(yaml.safe_dump(document))
    said = rolecall(cluster, "page", "--no-open")
    assert said.returncode == 2
    assert "--service-account NAMESPACE/NAME" in said.stderr


def test_login_is_not_sent_to_a_pod_that_was_found_by_its_label(cluster: FakeCluster) -> None:
    said = rolecall(cluster, "page", "--no-open")
    assert said.returncode == 2
    assert "would send your login to pod `ops/web-2`" in said.stderr
    assert "--operator ops/web" in said.stderr and "--service-account" in said.stderr
    assert (cluster.forwarded, cluster.tokens_asked) == (0, [])


OTHERS = {
    "no controller": {"ownerReferences": []},
    "another kind": controller("ReplicaSet", "web-1a2b") | {"ownerReferences": [{"kind": "Job"}]},
    "guessed uid": {
        "ownerReferences": [
            {**controller("ReplicaSet", "web-1a2b")["ownerReferences"][0], "uid": "guessed"}
        ]
    },
    "not its controller": {
        "ownerReferences": [
            {**controller("ReplicaSet", "web-1a2b")["ownerReferences"][0], "controller": False}
        ]
    },
    "a ReplicaSet that is gone": controller("ReplicaSet", "gone-1a2b"),
}


@pytest.mark.parametrize("metadata", OTHERS.values(), ids=OTHERS)
def test_login_is_not_sent_to_a_pod_that_no_deployment_of_the_operator_made(
    cluster: FakeCluster, metadata: Json
) -> None:
    for each in cluster.objects["pods"]:
        each["metadata"] |= metadata
    said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web")
    assert (said.returncode, "is not verified" in said.stderr) == (3, True)
    assert cluster.forwarded == 0


def test_login_is_not_sent_to_a_pod_with_another_service_account(cluster: FakeCluster) -> None:
    for each in cluster.objects["pods"]:
        each["spec"]["serviceAccountName"] = "other"
    said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web")
    assert (said.returncode, "it runs as `other`" in said.stderr) == (3, True)


def test_login_is_not_sent_where_you_may_not_read_whose_pod_it_is(cluster: FakeCluster) -> None:
    cluster.forbidden = {"get replicasets"}
    said = rolecall(cluster, "page", "--no-open", "--operator", "ops/web")
    assert (said.returncode, "resources: [replicasets]" in said.stderr) == (3, True)
    assert cluster.forwarded == 0
