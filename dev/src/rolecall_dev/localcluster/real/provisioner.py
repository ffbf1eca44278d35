"""Volumes for claims of a cluster with real nodes: one folder each, on the node that the pod goes to.

The volumes are of type `local`, so the kubelet gives them to the group that a pod asks for (`fsGroup`)
and pods that are not root can write. Rejected: the controller manager's own host-path provisioner,
whose volumes are for root only; and folders made in advance, whose sizes fit no claim, and which run
out.

Level-based: each turn reads all claims and volumes and does what is missing, in any order, so it can
stop and restart at any moment. A turn follows each watch event.

A claim that grows is granted at once: a folder has the size of its disk anyway.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall_dev.localcluster.api import Api
from rolecall_dev.localcluster.identities import KeyPair
from rolecall_dev.localcluster.layout import Layout
from rolecall_dev.localcluster.real.configuration import volumes_of
from rolecall_dev.localcluster.real.plan import PORTS, Plan

PROVISIONER = "rolecall.local/folder"
_CLAIMS = "/api/v1/persistentvolumeclaims"
_VOLUMES = "/api/v1/persistentvolumes"
_NODE_CHOSEN = "volume.kubernetes.io/selected-node"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_AGAIN_S = 5.0  # after an error, and in case that a watch missed something


class Provisioner:
    """Brings volumes to what claims want."""

    def __init__(self, api: Api, layout: Layout) -> None:
        self._api = api
        self._layout = layout

    def turn(self) -> None:
        """Make missing volumes, grow those of grown claims, and remove those without a claim."""
        volumes = {
            volume["metadata"]["name"]: volume
            for volume in self._api.get(_VOLUMES)["items"]
            if volume["metadata"].get("annotations", {}).get(_PROVISIONED_BY) == PROVISIONER
        }
        classes = self._classes()
        for claim in self._api.get(_CLAIMS)["items"]:
            if claim["spec"].get("storageClassName") in classes:
                self._serve(claim, volumes, classes)
        for name, volume in volumes.items():
            if volume.get("status", {}).get("phase") == "Released":
                self._remove(name, volume)

    def _classes(self) -> dict[str, Json]:
        items = self._api.get("/apis/storage.k8s.io/v1/storageclasses")["items"]
        ours = (each for each in items if each["provisioner"] == PROVISIONER)
        return {each["metadata"]["name"]: each for each in ours}

    def _serve(self, claim: Json, volumes: dict[str, Json], classes: dict[str, Json]) -> None:
        name = f"pvc-{claim['metadata']['uid']}"
        node = claim["metadata"].get("annotations", {}).get(_NODE_CHOSEN)
        wanted = claim["spec"]["resources"]["requests"]["storage"]
        if name not in volumes:
            if node and not claim["spec"].get("volumeName"):
                folder = volumes_of(self._layout, node) / name
                folder.mkdir(parents=True, exist_ok=True)
                storage_class = classes[claim["spec"]["storageClassName"]]
                self._api.create(_VOLUMES, _volume(name, claim, node, folder, storage_class))
            return
        if claim.get("status", {}).get("phase") != "Bound":
            return
        if volumes[name]["spec"]["capacity"]["storage"] != wanted:
            self._api.patch(f"{_VOLUMES}/{name}", {"spec": {"capacity": {"storage": wanted}}})
        if claim["status"].get("capacity", {}).get("storage") != wanted:
            namespace, claim_name = claim["metadata"]["namespace"], claim["metadata"]["name"]
            path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim_name}/status"
            self._api.patch(path, {"status": {"capacity": {"storage": wanted}}})

    def _remove(self, name: str, volume: Json) -> None:
        if volume["spec"]["persistentVolumeReclaimPolicy"] != "Delete":
            return
        folder = Path(volume["spec"]["local"]["path"])
        # Only what this provisioner makes: anyone may write a volume with any path.
        if folder.name == name and folder.parent.name == "volumes":
            shutil.rmtree(folder, ignore_errors=True)
        self._api.delete(f"{_VOLUMES}/{name}")


def _volume(name: str, claim: Json, node: str, folder: Path, storage_class: Json) -> Json:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        **{key: claim["metadata"][key] for key in ("namespace", "name", "uid")},
    }
    on_node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "accessModes": claim["spec"]["accessModes"],
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "claimRef": reference,
            "local": {"path": str(folder)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [on_node]}]}},
        },
    }


def _watch(api: Api, path: str, changed: threading.Event) -> None:
    """Signal every change, forever; a broken watch counts as a change, too."""
    while True:
        try:
            for _ in api.watch(path):
                changed.set()
        except ClusterError:
            changed.set()
            threading.Event().wait(_AGAIN_S)


def _turns(changed: threading.Event) -> Iterator[None]:
    while True:
        changed.wait(_AGAIN_S)
        changed.clear()
        yield


def _main(layout: Layout, number: int) -> None:
    pki, host = layout.certificates, Plan(number).apiserver
    pair = KeyPair(pki / "admin.crt", pki / "admin.key")
    api = Api(PORTS.apiserver, pki / "ca.crt", pair, host)
    changed = threading.Event()
    for path in (_CLAIMS, _VOLUMES):
        threading.Thread(target=_watch, args=(api, path, changed), daemon=True).start()
    provisioner = Provisioner(api, layout)
    for _ in _turns(changed):
        try:
            provisioner.turn()
        except (ClusterError, OSError) as error:
            # Said in the component's log; the next turn tries again.
            sys.stderr.write(f"{error}\n")
            sys.stderr.flush()


if __name__ == "__main__":
    _main(Layout(Path(sys.argv[1])), int(sys.argv[2]))
