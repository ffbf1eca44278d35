"""A real control plane on a laptop: etcd, kube-apiserver, controller manager, scheduler, and nodes.

For tests, for `make up`, for anyone who develops an operator. The programs are built once from
pinned Go modules. Nodes come in two flavours: simulated by kwok, where nothing runs in the pods and all
else is real, and real, which needs root and a container runtime (inner room `real`).
"""

from rolecall.localcluster.build import Progress, Step, build_programs, missing_programs
from rolecall.localcluster.cluster import Cluster, Component
from rolecall.localcluster.components import COMPONENTS
from rolecall.localcluster.kubeconfig import Access, write_kubeconfig
from rolecall.localcluster.launch import Wanted, bring_up, find_cluster
from rolecall.localcluster.layout import Layout, clusters_folder
from rolecall.localcluster.processes import FOLDER_MARK
from rolecall.localcluster.programs import (
    PROGRAMS,
    Binaries,
    MissingProgramsError,
    Program,
    default_cache,
    find_binaries,
)
from rolecall.localcluster.real.archive import Image, names_in, write_image
from rolecall.localcluster.real.faults import frozen_node
from rolecall.localcluster.real.images import APP, ETCD, REGISTRY, etcd_versions, write_trial_images
from rolecall.localcluster.real.launch import load_images
from rolecall.localcluster.real.probe import missing_packages, what_is_missing
from rolecall.localcluster.real.programs import REAL_PROGRAMS
from rolecall.localcluster.relay import Relay
from rolecall.localcluster.status import ClusterStatus, ComponentStatus, all_clusters, status_of
from rolecall.localcluster.takedown import sweep, take_down

__all__ = [
    "APP",
    "COMPONENTS",
    "ETCD",
    "FOLDER_MARK",
    "PROGRAMS",
    "REAL_PROGRAMS",
    "REGISTRY",
    "Access",
    "Binaries",
    "Cluster",
    "ClusterStatus",
    "Component",
    "ComponentStatus",
    "Image",
    "Layout",
    "MissingProgramsError",
    "Program",
    "Progress",
    "Relay",
    "Step",
    "Wanted",
    "all_clusters",
    "bring_up",
    "build_programs",
    "clusters_folder",
    "default_cache",
    "etcd_versions",
    "find_binaries",
    "find_cluster",
    "frozen_node",
    "load_images",
    "missing_packages",
    "missing_programs",
    "names_in",
    "status_of",
    "sweep",
    "take_down",
    "what_is_missing",
    "write_image",
    "write_kubeconfig",
    "write_trial_images",
]
