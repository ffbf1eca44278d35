"""What real nodes need beyond a control plane: programs that we build, and where they are used.

containerd, runc and the CNI plugins are not among them: they come from the machine's packages, since
they belong to its kernel more than to our versions. The probe says which package is missing.
"""

from __future__ import annotations

from rolecall_dev.localcluster.programs import NEEDED, Binaries, Program

_ETCD = "go.etcd.io/etcd"

# In the order of building, as in PROGRAMS. Times: 2 cores, the control plane built before.
REAL_PROGRAMS: tuple[Program, ...] = (
    Program("kubelet", "node", "k8s.io/kubernetes/cmd/kubelet", 60),
    Program("kube-proxy", "node", "k8s.io/kubernetes/cmd/kube-proxy", 25),
    Program("coredns", "coredns", ".", 70, pinned="github.com/coredns/coredns"),
    Program("pause", "small", "./pause", 1),
    Program("app", "small", "./app", 4),
    Program("etcdutl", "etcd", f"{_ETCD}/etcdutl/v3", 6),
    Program("etcd-3.5", "etcd-3.5", f"{_ETCD}/server/v3", 38),
    Program("etcdctl-3.5", "etcd-3.5", f"{_ETCD}/etcdctl/v3", 6),
    Program("etcdutl-3.5", "etcd-3.5", f"{_ETCD}/etcdutl/v3", 5),
    Program("rclone", "s3", "./client", 45, pinned="github.com/rclone/rclone"),
    Program("s3", "s3", "./server", 30, pinned="github.com/versity/versitygw"),
)
# The others are for images that tests and samples run.
NEEDED_BY_REAL = (
    *(name for name in NEEDED if name != "kwok"),
    *("kubelet", "kube-proxy", "coredns", "pause"),
)


def require_programs(binaries: Binaries) -> Binaries:
    """These, or an error that names the command that builds them."""
    return binaries.require(NEEDED_BY_REAL, "rolecall cluster build --real")
