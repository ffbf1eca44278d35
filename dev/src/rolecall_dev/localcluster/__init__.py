"""A real control plane on a laptop: etcd, kube-apiserver, controller manager, scheduler, and nodes.

For tests, for `make up`, for anyone who develops an operator. The programs are built once from
pinned Go modules. Nodes come in two flavours: simulated by kwok, where nothing runs in the pods and all
else is real, and real, which needs root and a container runtime (inner room `real`).
"""

from rolecall_dev.localcluster.build import (
    BuildStep,
    build_programs,
    missing_programs,
)
from rolecall_dev.localcluster.cluster import Cluster
from rolecall_dev.localcluster.components import COMPONENTS
from rolecall_dev.localcluster.identities import ClusterAccess, kubeconfig_text, write_kubeconfig
from rolecall_dev.localcluster.launch import (
    InUseError,
    Say,
    Wanted,
    bring_up,
    find_cluster,
    temporary_cluster,
)
from rolecall_dev.localcluster.layout import Layout, clusters_folder
from rolecall_dev.localcluster.processes import FOLDER_MARK
from rolecall_dev.localcluster.programs import (
    PROGRAMS,
    Binaries,
    MissingProgramsError,
    Program,
    default_cache,
    find_binaries,
)
from rolecall_dev.localcluster.real.images import (
    APP,
    ETCD,
    RCLONE,
    REAL_PROGRAMS,
    REGISTRY,
    S3,
    Image,
    etcd_versions,
    names_in,
    write_image,
    write_trial_images,
)
from rolecall_dev.localcluster.real.launch import frozen_node, load_images
from rolecall_dev.localcluster.real.probe import missing_packages, what_is_missing
from rolecall_dev.localcluster.relay import Relay
from rolecall_dev.localcluster.status import ClusterStatus, ComponentStatus, all_clusters, status_of
from rolecall_dev.localcluster.system import require_linux
from rolecall_dev.localcluster.takedown import sweep, take_down

__all__ = [
    "APP",
    "COMPONENTS",
    "ETCD",
    "FOLDER_MARK",
    "PROGRAMS",
    "RCLONE",
    "REAL_PROGRAMS",
    "REGISTRY",
    "S3",
    "Binaries",
    "BuildStep",
    "Cluster",
    "ClusterAccess",
    "ClusterStatus",
    "ComponentStatus",
    "Image",
    "InUseError",
    "Layout",
    "MissingProgramsError",
    "Program",
    "Relay",
    "Say",
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
    "kubeconfig_text",
    "load_images",
    "missing_packages",
    "missing_programs",
    "names_in",
    "require_linux",
    "status_of",
    "sweep",
    "take_down",
    "temporary_cluster",
    "what_is_missing",
    "write_image",
    "write_kubeconfig",
    "write_trial_images",
]
