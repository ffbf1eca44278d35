"""Which cluster this is: a name for it that two clusters never share.

The uid of the namespace `kube-system`, as is usual. Most operators may not read that; then a
digest of the server's address and authority. One cluster may so have two names, which costs a second
folder; two clusters with one name would cost data.
"""

from __future__ import annotations

import asyncio
import re

from rolecall.errors import ClusterError
from rolecall.kube.client import Client
from rolecall.kube.credentials import Credentials

_NAMESPACE = "/api/v1/namespaces/kube-system"
_UID = re.compile(r"[0-9a-zA-Z][0-9a-zA-Z-]{7,63}")  # fit for a file
# The server may be away when an engine starts, which then waits for it elsewhere.
_PATIENCE_S = 5.0


async def cluster_id(client: Client, credentials: Credentials) -> str:
    """The name of the cluster; never raises for what the server says."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            namespace = await client.read_path(_NAMESPACE)
        uid = str(namespace["metadata"]["uid"])
    except (ClusterError, TimeoutError, LookupError, TypeError):
        uid = ""
    return uid if _UID.fullmatch(uid) else credentials.server_digest[:32]
