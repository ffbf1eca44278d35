"""A cluster for tests of operators: CRDs installed, a proxy that can fail, namespaces by the dozen.

One serves any number of operators one after the other: each gets an engine of its own. With
`TrialCluster.opened()` the cluster is a new one and ends with the block; `TrialCluster.on(cluster)` is
for those who have one.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall_dev.localcluster import Cluster, Wanted, find_binaries, sweep, temporary_cluster
from rolecall_dev.sources import crd_folder, kubectl_source
from rolecall_dev.staging.engine import TrialEngine
from rolecall_dev.staging.fault_proxy import FaultProxy
from rolecall_dev.staging.traffic import CASE_PREFIX

_CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
_CRDS_GO_WITHIN = "30s"
_NAMESPACE = Gvk("", "v1", "Namespace")


class TrialCluster:
    def __init__(self, cluster: Cluster, client: Client, scratch: Path) -> None:
        self.cluster = cluster
        self.client = client  # the administrator's, past the proxy
        self._scratch = scratch
        self._engines = 0

    @classmethod
    @asynccontextmanager
    async def opened(cls, name: str = "") -> AsyncIterator[TrialCluster]:
        """On a new cluster, which ends with the block, and with this process at the latest.

        Of those before it whose process was killed, the folder is still there: it goes now.
        """
        await asyncio.to_thread(sweep)
        wanted = Wanted(name=name or f"test-{secrets.token_hex(3)}")
        with temporary_cluster(wanted, find_binaries().require()) as cluster:
            async with cls.on(cluster) as trial_cluster:
                yield trial_cluster

    @classmethod
    @asynccontextmanager
    async def on(cls, cluster: Cluster) -> AsyncIterator[TrialCluster]:
        """On a cluster that is there."""
        credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
        with tempfile.TemporaryDirectory(prefix="rolecall-test-") as scratch:
            async with Client(credentials) as client:
                yield cls(cluster, client, Path(scratch))

    def install_crds(self, project: Path) -> None:
        """Install a project's CRDs and wait until they are served."""
        self.cluster.kubectl(
            "apply",
            "--server-side",
            "--force-conflicts",
            *kubectl_source(crd_folder(project, "a test")),
        )
        self.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")

    async def replace_crds(self, project: Path) -> None:
        """Install a project's CRDs where others of the same names are, and take all CRs with those."""
        for crd in await self.client.list_all(_CRD):
            spec = crd["spec"]
            version = next(each["name"] for each in spec["versions"] if each["served"])
            gvk = Gvk(spec["group"], version, spec["names"]["kind"])
            # No operator runs that would remove the finalizers.
            for cr in await self.client.list_all(gvk):
                metadata = cr["metadata"]
                if metadata.get("finalizers"):
                    place = (metadata.get("namespace", ""), metadata["name"])
                    no_finalizers = {"metadata": {"finalizers": None}}
                    await self.client.merge_patch(gvk, *place, no_finalizers)
        found = kubectl_source(crd_folder(project, "a test"))
        delete = ("delete", "--ignore-not-found", f"--timeout={_CRDS_GO_WITHIN}", *found)
        await asyncio.to_thread(self.cluster.kubectl, *delete)
        await asyncio.to_thread(self.install_crds, project)

    @asynccontextmanager
    async def operator(
        self, project: Path, arguments: Sequence[str] = ()
    ) -> AsyncIterator[tuple[TrialEngine, FaultProxy]]:
        """The project's operator behind a proxy of its own, started."""
        self._engines += 1
        scratch = self._scratch / f"operator-{self._engines}"
        scratch.mkdir()
        async with AsyncExitStack() as stack:
            proxy = await stack.enter_async_context(FaultProxy.opened(self.cluster.kubeconfig))
            kubeconfig = proxy.write_kubeconfig(scratch / "kubeconfig")
            engine = TrialEngine(project, kubeconfig, scratch, arguments)
            stack.push_async_callback(engine.close)
            await engine.start()
            yield engine, proxy

    async def new_namespace(self) -> str:
        name = f"{CASE_PREFIX}{secrets.token_hex(4)}"
        await self.client.create(
            _NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        )
        return name

    async def remove_namespace(self, name: str) -> None:
        """Request its deletion, without waiting for it."""
        with suppress(NotFoundError):
            await self.client.delete(_NAMESPACE, "", name)
