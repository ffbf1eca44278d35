"""Writes the kubeconfig that one run gets, in the shape that roles know from the Go operator.

The credential stands in two places: Python clients read it from the user entry, while Go clients
(kubectl, helm) ignore user entries over plain HTTP and send only what the server's URL contains. No
default namespace is set; roles rely on naming theirs.

One file serves all clients, as with the Go operator: a helm module takes the file that is named for
Ansible's modules and gives it to a Go program. A second file without the password in the URL was
rejected for this reason. What modules of kubernetes.core name after that URL is the runner's to handle.

The file is written by hand rather than by a YAML library: it costs microseconds on the hot path, and
every value is quoted as JSON, which is YAML too.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from rolecall.proxy.run_credentials import ProcessCredential, RunCredential

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
    credential: RunCredential | ProcessCredential, port: int, folder: Path | None = None
) -> Path:
    """Write a kubeconfig, readable by its owner only, and return its path."""
    namespace = credential.owner.namespace if isinstance(credential, RunCredential) else ""
    login = f"{credential.user_name}:{credential.password}"
    text = _TEMPLATE.format(
        server=json.dumps(f"http://{login}@localhost:{port}"),
        user_name=json.dumps(credential.user_name),
        password=json.dumps(credential.password),
        context=json.dumps(f"{namespace}/proxy-server"),
    )
    descriptor, path = tempfile.mkstemp(prefix="kubeconfig", dir=folder)  # made 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(path)
