"""Tokens of ServiceAccounts, by TokenRequest."""

from __future__ import annotations

import json

from rolecall.gvk import Gvk
from rolecall.kube.client import Client
from rolecall.kube.errors import Target, UnavailableError, error_for
from rolecall.kube.later import aiohttp

_ACCOUNT = Gvk("", "v1", "ServiceAccount")


async def token_for(
    client: Client, namespace: str, name: str, seconds: int, audience: str = ""
) -> str:
    """One that lasts so long; raises `ClusterError`. With an audience, no API server takes it."""
    accounts = await client.resource_for(_ACCOUNT)
    target = Target("create", accounts, namespace, name, "token")
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "expirationSeconds": seconds,
            **({"audiences": [audience]} if audience else {}),
        },
    }
    path = accounts.path(namespace, name, "token")
    headers = {"Content-Type": "application/json"}
    asking = client.request_raw("POST", path, headers=headers, body=json.dumps(body).encode())
    try:
        async with asking as answer:
            content = await answer.read()
    except (aiohttp.ClientError, TimeoutError, OSError) as failure:
        raise UnavailableError(f"could not ask for a token: {failure}") from failure
    if answer.status >= 400:
        raise error_for(target, answer.status, content)
    return str(json.loads(content)["status"]["token"])
