"""Writes a ConfigMap in protobuf, as typed Go clients do: what kubectl and helm are made of.

    helm status NAMESPACE POST|PUT NAME STATE

It stands in for helm, whose command line a plan knows.

A program of its own, which plays start; it prints the code of the answer. With nothing but the standard
library, since it runs where a play runs.
"""

from __future__ import annotations

import base64
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import yaml


def field(number: int, content: bytes) -> bytes:
    """One of bytes; all lengths here are below 16,384."""
    size = len(content)
    length = bytes([size]) if size < 0x80 else bytes([size & 0x7F | 0x80, size >> 7])
    return bytes([number << 3 | 2]) + length + content


def config_map(namespace: str, name: str, state: str) -> bytes:
    metadata = field(1, name.encode()) + field(3, namespace.encode())
    data = field(1, b"state") + field(2, state.encode())
    kind = field(1, b"v1") + field(2, b"ConfigMap")
    return b"k8s\0" + field(1, kind) + field(2, field(1, metadata) + field(2, data))


def main(namespace: str, method: str, name: str, state: str) -> int:
    """The code of the answer says how it ended."""
    with Path(os.environ["KUBECONFIG"]).open() as file:
        server = urlsplit(yaml.safe_load(file)["clusters"][0]["cluster"]["server"])
    path = f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if method == "PUT" else "")
    login = base64.b64encode(f"{server.username}:{server.password}".encode()).decode()
    request = urllib.request.Request(
        f"{server.scheme}://{server.hostname}:{server.port}{path}",
        method=method,
        data=config_map(namespace, name, state),
        headers={
            "Content-Type": "application/vnd.kubernetes.protobuf",
            "Accept": "application/vnd.kubernetes.protobuf,application/json",
            "Authorization": f"Basic {login}",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            print(answer.status)
            return 0
    except urllib.error.HTTPError as refusal:
        print(refusal.code)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[2:]))
