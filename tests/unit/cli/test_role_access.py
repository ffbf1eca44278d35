"""How a role that is run by hand reaches the cluster; over real TLS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from rolecall.kube import TlsError
from rolecall.runner import terms_of
from rolecall.settings import ProxySettings
from rolecall.watches import Play, Watch
from rolecall_dev.cli.role_access import RoleAccess
from rolecall_dev.cli.role_output import RoleRequest
from tests.fixtures.authorities import DAY, issue
from tests.unit.proxy.upstream import Upstream
from tests.unit.runner.cases import APP, app


async def test_play_of_a_cr_that_is_only_a_file_never_meets_the_clusters_certificate(
    tmp_path: Path,
) -> None:
    """Its own TLS library may refuse what the engine accepts."""
    async with (
        cluster(tmp_path, ends=DAY) as environment,
        RoleAccess(environment, print, ProxySettings()) as access,
        access.of(role_request()) as (request, why),
    ):
        assert why.endswith("is not in the cluster; `--create` applies it first")
        assert request.kubeconfig is not None
        content = yaml.safe_load(request.kubeconfig.read_text())
        dialled = urlsplit(content["clusters"][0]["cluster"]["server"])
        assert (dialled.scheme, dialled.hostname) == ("http", "localhost")


async def test_role_is_not_played_against_a_cluster_that_is_not_trusted(tmp_path: Path) -> None:
    """It failed half a minute later, in the words of its own TLS library."""
    async with (
        cluster(tmp_path, ends=-DAY / 2) as environment,
        RoleAccess(environment, print, ProxySettings()) as access,
    ):
        with pytest.raises(TlsError, match="its certificate expired on"):
            async with access.of(role_request()):
                raise AssertionError("the role was played")


def role_request() -> RoleRequest:
    watch = Watch(APP, Play(Path("/project/roles/app"), is_role=True))
    kubeconfig = Path("/nowhere/kubeconfig")
    return RoleRequest("7001", terms_of(watch), app(), False, kubeconfig, 0, 20, watch=watch)


@asynccontextmanager
async def cluster(folder: Path, *, ends: timedelta) -> AsyncIterator[dict[str, str]]:
    root = issue("old tools")
    tls = issue("server", root, hosts=("127.0.0.1",), ends=ends).server_tls(folder)
    server = await asyncio.start_server(Upstream().serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield {"KUBECONFIG": str(kubeconfig(folder, server, root.pem))}
    finally:
        server.close()


def kubeconfig(folder: Path, server: asyncio.Server, authority: str) -> Path:
    (folder / "ca.crt").write_text(authority)
    port = server.sockets[0].getsockname()[1]
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": "ca.crt"}
    content = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content))
    return file
