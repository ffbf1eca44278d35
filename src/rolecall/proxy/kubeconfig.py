"""Writes the kubeconfig that one run gets, in the shape that roles know from the Go operator.

The credential stands in two places: Python's client reads it from the user entry, while kubectl
ignores user entries over plain HTTP and sends only what the server's URL carries. No default namespace
is set; roles rely on naming theirs.

Ansible's modules get a second file, without the password in the URL. They keep what they discovered of
the API in a file named after that URL: with a password in it, no run would ever find what the one
before had discovered, and the files would pile up, one a run.

The file is written by hand rather than by a YAML library: it costs microseconds on the hot path, and
every value is quoted as JSON, which is YAML too.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from rolecall.proxy.run_credentials import RunCredential

_TEMPLATE = """\
apiVersion: v1
kind: Config
preferences: {{}}
clusters:
- name: proxy-server
  cluster:
    server: {server}
    insecure-skip-tls-verify: true
users:
- name: admin/proxy-server
  user:
    username: {user_name}
    password: {password}
contexts:
- name: {context}
  context:
    cluster: proxy-server
    user: admin/proxy-server
current-context: {context}
"""


def write_kubeconfig(
    credential: RunCredential,
    port: int,
    folder: Path | None = None,
    *,
    is_for_modules: bool = False,
) -> Path:
    """Write a run's kubeconfig, readable by its owner only, and return its path."""
    login = (
        credential.user_name if is_for_modules else f"{credential.user_name}:{credential.password}"
    )
    text = _TEMPLATE.format(
        server=json.dumps(f"http://{login}@localhost:{port}"),
        user_name=json.dumps(credential.user_name),
        password=json.dumps(credential.password),
        context=json.dumps(f"{credential.owner.namespace}/proxy-server"),
    )
    descriptor, path = tempfile.mkstemp(prefix="kubeconfig", dir=folder)  # made 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(path)
