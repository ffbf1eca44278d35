"""Who types a command: as the cluster knows the person, else as the machine does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, CredentialsError, Timeouts

_SELF = Gvk("authentication.k8s.io", "v1", "SelfSubjectReview")
_SELF_BODY = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
_TIMEOUTS = Timeouts(connect_s=2.0, total_s=5.0)


async def person_of(client: Client, environ: Mapping[str, str]) -> str:
    """The user of this login; where the cluster is too old to say, that of the machine."""
    try:
        review = await client.create(_SELF, {**_SELF_BODY, "metadata": {}})
        return str(review["status"]["userInfo"]["username"])
    except (ClusterError, LookupError, TypeError):
        return _of_machine(environ)


def person_at(environ: Mapping[str, str]) -> str:
    """The same for the cluster of the kubeconfig, where there is one."""
    try:
        credentials = Credentials.load(environ)
    except CredentialsError:
        return _of_machine(environ)
    return asyncio.run(_asked(credentials, environ))


async def _asked(credentials: Credentials, environ: Mapping[str, str]) -> str:
    async with Client(credentials, timeouts=_TIMEOUTS) as client:
        return await person_of(client, environ)


def _of_machine(environ: Mapping[str, str]) -> str:
    return environ.get("USER") or "a person"
