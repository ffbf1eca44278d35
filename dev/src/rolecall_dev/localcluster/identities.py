"""Who is who in a cluster: the keys, certificates and kubeconfigs of its components and its admin.

Promises that every cluster trusts only itself: no key is shared between clusters or reused after
`down`. Certificates live for a year; a cluster that is older than that is made anew, not renewed.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtensionOID

from rolecall.certificates import Holder, issue, private_pem
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall_dev.localcluster.layout import Layout, Ports
from rolecall_dev.sources import filled_in

# A certificate authority of the cluster's own, and what it signs.
# Promises that every cluster trusts only itself: no key is shared between clusters or reused after
# `down`. Certificates live for a year; a cluster that is older than that is made anew, not renewed.

_LIFETIME = timedelta(days=365)
AUTHORITY = "ca.crt"


@dataclass(frozen=True, slots=True)
class KeyPair:
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Found:
    """The authority's certificate of a cluster that was made earlier; all others are as old."""

    valid_from: datetime
    valid_until: datetime
    names_its_key: bool  # False: made before we did; strict checkers refuse all of them

    @classmethod
    def read(cls, file: Path) -> Found:
        """Raises OSError and ValueError."""
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        named = {extension.oid for extension in certificate.extensions}
        return cls(
            certificate.not_valid_before_utc,
            certificate.not_valid_after_utc,
            ExtensionOID.SUBJECT_KEY_IDENTIFIER in named,
        )


class Authority:
    """Signs certificates into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pair = issue(Holder("rolecall-local-cluster"), SystemClock().now(), _LIFETIME)
        self.certificate = folder / AUTHORITY
        write_private(self.certificate, self._pair.certificate)
        # The controller manager signs CertificateSigningRequests with it, as in any cluster.
        write_private(folder / "ca.key", self._pair.key)

    def server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """For a program that is reached under these host names and addresses (it may dial too)."""
        return self._issue(name, Holder(name, hosts, is_client=True))

    def client(self, name: str, user: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """For a user of the API server, who is known by the subject."""
        return self._issue(name, Holder(user, groups=groups, is_client=True))

    def _issue(self, name: str, holder: Holder) -> KeyPair:
        made = issue(holder, SystemClock().now(), _LIFETIME, self._pair)
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        write_private(pair.certificate, made.certificate)
        write_private(pair.key, made.key)
        return pair


def write_signing_key(private: Path, public: Path) -> None:
    """The pair that signs and checks the tokens of service accounts."""
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(private, private_pem(key))
    encoding, layout = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    write_private(public, key.public_key().public_bytes(encoding, layout))


def write_private(path: Path, content: bytes) -> None:
    """Never readable by others, not even for the moment between creation and chmod."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


# Kubeconfig files, readable by their owner only.

_KUBECONFIG = Path(__file__).with_name("kubeconfig.yaml")
CONTEXT_PREFIX = "rolecall-"  # of the names in an administrator's kubeconfig


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to reach an API server, and as whom: by a certificate or by a token."""

    url: str
    authority: Path
    pair: KeyPair | None = None
    token: str = ""
    name: str = "local"
    namespace: str = "default"


def write_kubeconfig(path: Path, access: ClusterAccess) -> Path:
    """Everything inline, so that the file can be copied to where it is needed."""
    authority = _encoded(access.authority)
    cluster = {"server": access.url, "certificate-authority-data": authority}
    text = kubeconfig_text(access.name, cluster, _user(access), access.namespace)
    write_private(path, text.encode())
    return path


def kubeconfig_text(name: str, cluster: Json, user: Json, namespace: str = "default") -> str:
    """One of everything, all by this name."""
    values = {"cluster": json.dumps(cluster), "user": json.dumps(user)}
    return filled_in(_KUBECONFIG.read_text(), {"name": name, "namespace": namespace, **values})


def copy_kubeconfig(source: Path, target: Path) -> None:
    """Put a copy where the user wants it; a file of someone else's is not touched."""
    require_replaceable(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_private(target, source.read_bytes())


def require_replaceable(target: Path) -> None:
    """Raise when there is a file that we did not write."""
    if target.exists() and not is_ours(target):
        raise InputError(
            f"`{target}` exists, and was not written by `rolecall cluster up`",
            hint="name a new file, and merge the two with `kubectl config view --flatten`",
        )


def is_ours(path: Path) -> bool:
    """Whether a kubeconfig knows one of our clusters and nothing else."""
    try:
        content = yaml.safe_load(path.read_text())
        names = [cluster["name"] for cluster in content["clusters"]]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return False
    return len(names) == 1 and str(names[0]).startswith(CONTEXT_PREFIX)


def _user(access: ClusterAccess) -> Json:
    if access.token:
        return {"token": access.token}
    assert access.pair is not None, "an access needs a certificate or a token"
    return {
        "client-certificate-data": _encoded(access.pair.certificate),
        "client-key-data": _encoded(access.pair.key),
    }


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


Texts = tuple[str, ...]

_HOSTS = ("127.0.0.1", "localhost", "10.96.0.1", "kubernetes", "kubernetes.default.svc")
_SERVERS = {"etcd": _HOSTS[:2], "kube-apiserver": _HOSTS}
CONTROL_PLANE: Mapping[str, tuple[str, Texts]] = {
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
}
_KWOK = {"kwok": ("kwok", ("system:masters",))}  # it plays every kubelet, and writes any status


def write_identities_of_simulated(layout: Layout, ports: Ports) -> None:
    url = f"https://127.0.0.1:{ports.apiserver}"
    admin_url = f"https://127.0.0.1:{ports.apiserver_door}"
    write_identities(layout, _SERVERS, {**CONTROL_PLANE, **_KWOK}, url, admin_url)


def write_identities(
    layout: Layout,
    servers: Mapping[str, Texts],  # component -> the hosts that it is dialled by
    users: Mapping[str, tuple[str, Texts]],  # component -> its user and groups
    url: str,
    admin_url: str,
) -> None:
    """All of them, into the cluster's folder; nothing is shared with another cluster."""
    pki = layout.certificates
    pki.mkdir(mode=0o700)
    authority = Authority(pki)
    for component, hosts in servers.items():
        authority.server(component, hosts)
    write_signing_key(pki / "service-account.key", pki / "service-account.pub")
    for component, (user, groups) in users.items():
        pair = authority.client(f"{component}-client", user, groups)
        access = ClusterAccess(url, authority.certificate, pair)
        write_kubeconfig(layout.component_kubeconfig(component), access)
    admin = authority.client("admin", "admin", ("system:masters",))
    name = f"{CONTEXT_PREFIX}{layout.name}"
    access = ClusterAccess(admin_url, authority.certificate, admin, name=name)
    write_kubeconfig(layout.kubeconfig, access)
