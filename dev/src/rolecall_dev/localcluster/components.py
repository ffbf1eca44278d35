"""The command line of each component: pure, every flag with its reason in `flags.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from rolecall.errors import InputError
from rolecall_dev.localcluster.layout import Layout, Ports
from rolecall_dev.sources import filled_in

_FLAGS = Path(__file__).parent / "flags.yaml"
_KWOK_STAGES = Path(__file__).parent / "stages.yaml"

# In the order of starting. The clients wait for an API server by looking once a second; started when
# it is ready they find it at once, and leave the processor to it until then.
SERVERS = ("etcd", "kube-apiserver")
CLIENTS = ("kube-controller-manager", "kube-scheduler", "kwok")
COMPONENTS = (*SERVERS, *CLIENTS)


def arguments_for(component: str, layout: Layout, ports: Ports) -> list[str]:
    """The flags of a component, without the program itself."""
    return as_arguments(flags_of(component, layout, ports))


def as_arguments(flags: Mapping[str, str]) -> list[str]:
    """Flags as a command line has them."""
    return [f"--{name}={value}" for name, value in flags.items()]


def flags_of(component: str, layout: Layout, ports: Ports) -> dict[str, str]:
    if component not in COMPONENTS:
        raise InputError(f"component `{component}` is not one of {', '.join(COMPONENTS)}")
    values = {
        "data": str(layout.data),
        "pki": str(layout.certificates),
        "kubeconfig": str(layout.component_kubeconfig(component)),
        "kwok_stages": str(_KWOK_STAGES),
        "apiserver": str(ports.apiserver),
        "etcd": f"https://127.0.0.1:{ports.etcd}",
        "etcd_peer": f"https://127.0.0.1:{ports.etcd_peer}",
        "etcd_door": f"https://127.0.0.1:{ports.etcd_door}",
    }
    return read_flags(_FLAGS, component, values)


def read_flags(file: Path, component: str, values: Mapping[str, str]) -> dict[str, str]:
    """A component's part of a file of flags, as texts; empty where it has none."""
    # Texts alone: a flag is `true`, and not what Python writes for it.
    tables = yaml.load(filled_in(file.read_text(), values), Loader=yaml.BaseLoader)  # noqa: S506
    found: dict[str, str] = tables.get(component, {})
    return found
