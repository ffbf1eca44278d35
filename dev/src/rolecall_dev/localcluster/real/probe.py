"""Whether this machine can run real nodes; if not, what is missing, in one line with the way out.

Looks by trying: what counts is not which kernel or which distribution this is, but whether namespaces,
links and cgroups can be made here. Nothing that is tried outlives its own short-lived namespace.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.localcluster.real.cgroups import Cgroups
from rolecall_dev.localcluster.system import captured, last_line

# Not every PATH has the administrator's programs.
SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni"))
CNI_PLUGINS = ("bridge", "host-local", "loopback", "portmap")
# Program -> the Debian and Ubuntu package that has it.
_PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "nft": "nftables",
    "iptables": "iptables",
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}
_TRIAL = (
    "mount -t tmpfs none /run && ip link add probe0 type bridge && ip link add probe1 type veth"
    " && nft add table ip probe"
)


def find_program(name: str) -> str:
    """Its path; `require_real` has made sure that there is one."""
    path = shutil.which(name, path=SEARCH)
    if path is None:
        raise InputError(f"program `{name}` was not found", hint=_install([_PACKAGES[name]]))
    return path


def cni_folder() -> Path | None:
    """Where the network plugins are; None when some are missing."""
    return next((each for each in CNI_FOLDERS if _is_complete(each)), None)


def what_is_missing(cgroups: Cgroups | None = None) -> str:
    """Empty when real nodes can run here; else one line that says what is missing, and the way out."""
    if packages := missing_packages():
        return f"real nodes need packages that are not installed: {_install(packages)}"
    if os.geteuid() != 0:
        return "real nodes need root, for namespaces and mounts: run the same command with sudo"
    return _kernel_lacks() or _cgroups_lack(cgroups or Cgroups())


def require_real() -> None:
    if lack := what_is_missing():
        raise InputError(
            lack, hint="without `--real` the nodes are simulated, and need none of this"
        )


def missing_packages() -> list[str]:
    """Those of Debian and Ubuntu that have what was not found here."""
    missing = {
        package
        for program, package in _PACKAGES.items()
        if shutil.which(program, path=SEARCH) is None
    }
    if cni_folder() is None:
        missing.add("containernetworking-plugins")
    return sorted(missing)


def _install(packages: Sequence[str]) -> str:
    return f"`apt-get install --no-install-recommends {' '.join(packages)}`"


def _is_complete(folder: Path) -> bool:
    return all((folder / plugin).exists() for plugin in CNI_PLUGINS)


def _kernel_lacks() -> str:
    command = [find_program("unshare"), "--fork", "--pid", "--mount", "--net", "--mount-proc"]
    result = captured([*command, "sh", "-c", _TRIAL], env={"PATH": SEARCH})
    if result.returncode:
        return (
            "real nodes need namespaces, tmpfs, bridge, veth and nftables of the kernel:"
            f" {last_line(result.stderr)}; in a container, run it with `--privileged`"
        )
    if "\toverlay\n" not in Path("/proc/filesystems").read_text():
        return "real nodes need the file system `overlay` of the kernel: `modprobe overlay`"
    return ""


def _cgroups_lack(cgroups: Cgroups) -> str:
    if not cgroups.version:
        return f"real nodes need cgroups, and `{cgroups.root}` has none: mount version 2 there"
    if missing := cgroups.missing():
        return (
            f"real nodes need cgroup controllers that version {cgroups.version} does not have here:"
            f" {', '.join(missing)}; the kernel's command line enables them"
        )
    try:
        cgroups.make("rolecall-probe", "node")
    except OSError as error:
        return (
            f"real nodes need cgroups that can be written, and `{cgroups.root}` cannot"
            f" ({error.strerror}); in a container, run it with `--privileged --cgroupns=host`"
        )
    finally:
        cgroups.remove("rolecall-probe")
    return ""
