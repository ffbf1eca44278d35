"""Our operator as it reaches clusters: from its own image, installed by `make deploy`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.fixtures.eventually import eventually
from tests.fixtures.objects import Objects
from tests.real.make import make
from tests.real.world import PATIENCE_S, condition

ROOT = Path(__file__).parents[2]
NAMESPACE = "rolecall-system"
_SELECTOR = "control-plane=controller-manager"
# Shared memory counts once: the warm host and its runs have most of theirs in common.
_MEMORY = """
import pathlib
total = 0
for file in pathlib.Path("/proc").glob("[0-9]*/smaps_rollup"):
    try:
        rows = dict(line.split(":") for line in file.read_text().splitlines()[1:])
        total += int(rows["Pss"].split()[0])
    except OSError:  # it ended while we looked
        pass
print(total)
"""


@dataclass(frozen=True)
class Operator:
    """The Deployment with its two replicas."""

    cluster: Cluster

    def make(self, target: str, *variables: str) -> str:
        """A target of our Makefile, on this cluster."""
        own = (
            f"NAME={self.cluster.name}",
            f"PYTHON={sys.executable}",
            "OVERLAY=replicas",
            "PAGE=1",
        )
        return make(ROOT, target, *own, *variables)

    def deploy(self, image: str) -> None:
        """Install it, or bring it to another image."""
        self.make("deploy", f"IMG={image}")

    def kubectl(self, *arguments: str) -> str:
        """In its namespace."""
        return self.cluster.kubectl("-n", NAMESPACE, *arguments)

    @cached_property
    def objects(self) -> Objects:
        """How they are looked at."""
        return Objects(self.cluster)

    def get(self, kind: str, name: str) -> Json:
        """An object of its namespace; empty when there is none."""
        return self.objects.get(NAMESPACE, kind, name)

    def pods(self) -> list[Json]:
        """Those that are not on their way out."""
        return [pod for pod in self.all_pods() if "deletionTimestamp" not in pod["metadata"]]

    def all_pods(self) -> list[Json]:
        """Those that go, too."""
        return self.objects.list(NAMESPACE, "pods", _SELECTOR)

    def holder(self) -> str:
        """The engine that leads, as its pod's name and a mark of its own; empty while none does."""
        return str(self.get("lease", "rolecall").get("spec", {}).get("holderIdentity", ""))

    def leader(self) -> str:
        """The name of the pod that leads, empty while none does."""
        return _pod_of(self.holder())

    def wait_for_leader(self) -> str:
        """Until some pod leads that is there."""
        return _pod_of(self.wait_for_next(""))

    def wait_for_next(self, holder: str) -> str:
        """Until an engine leads that is not this one; in the same pod, where that was back first."""

        def leads(found: str) -> bool:
            pods = [pod["metadata"]["name"] for pod in self.pods()]
            return found != holder and _pod_of(found) in pods

        return eventually(self.holder, leads, timeout_s=PATIENCE_S)

    def wait_complete(self, image: str) -> None:
        """Until two replicas of this image are ready, and no others are left."""
        eventually(
            lambda: [
                (pod["spec"]["containers"][0]["image"], condition(pod, "Ready").get("status"))
                for pod in self.all_pods()
            ],
            lambda found: found == [(image, "True")] * 2,
            timeout_s=PATIENCE_S,
        )

    def spread(self) -> None:
        """A replica on each node, so that one is left where a node is frozen.

        A node that was frozen for five minutes had its replica replaced beside the other.
        """
        pods, leader = self.pods(), self.leader()
        if len({pod["spec"].get("nodeName") for pod in pods}) < len(pods):
            beside = next(pod for pod in pods if pod["metadata"]["name"] != leader)
            self.kubectl("delete", "pod", beside["metadata"]["name"])
        eventually(
            lambda: {
                pod["spec"]["nodeName"]
                for pod in self.all_pods()
                if condition(pod, "Ready").get("status") == "True"
            },
            lambda nodes: len(nodes) == 2,
            timeout_s=PATIENCE_S,
        )

    def execute(self, pod: str, *command: str) -> str:
        """Run something in its container."""
        return self.kubectl("exec", pod, "--", *command)

    def log(self, pod: str) -> str:
        """What the engine said."""
        return self.kubectl("logs", pod)

    def memory_mib(self, pod: str) -> float:
        """What its processes have, shared memory counted once."""
        return int(self.execute(pod, "python3", "-c", _MEMORY)) / 1024

    def container(self, pod: str) -> Json:
        """The status of its container."""
        found: Json = self.get("pod", pod)["status"]["containerStatuses"][0]
        return found


def moment(text: str) -> datetime:
    """A time as Kubernetes writes it."""
    return datetime.fromisoformat(text)


def _pod_of(holder: str) -> str:
    """An engine holds the Lease as its pod's name and a mark of its own."""
    return holder.rpartition("_")[0]
