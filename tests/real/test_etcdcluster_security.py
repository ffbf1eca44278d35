"""A real etcd cluster whose clients and peers show certificates, and these exchanged under load."""

from __future__ import annotations

import base64
import socket
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import HTTPError

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from rolecall.json_object import Json
from rolecall_dev.localcluster import etcd_versions
from tests.fixtures.eventually import eventually
from tests.real.etcd import MOMENT_S, REFUSALS, Etcd, Witness, ask, coded
from tests.real.operator import Operator
from tests.real.world import PATIENCE_S, World, is_ready

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]
MI = 1024**2
SHOWN = ["etcdclusters", "events", "statefulsets", "pods", "jobs", "cronjobs", "configmaps"]
# Files of runs in the engine's pod.
SEARCH = """
import os, sys
for folder, _, files in os.walk("/tmp"):
    for path in (os.path.join(folder, file) for file in files):
        if os.path.isfile(path) and sys.argv[1].encode() in open(path, "rb").read():
            print(path)
"""


@pytest.fixture(scope="module")
def etcd(world: World) -> Etcd:
    found = Etcd(world, "sealed", is_sealed=True)
    found.apply(
        version=VERSION,
        replicas=3,
        tls={},
        resources={"requests": {"memory": "32Mi"}},
        quotaBackendBytes="48Mi",
        defragment={"above": 50, "largerThan": "4Mi"},
        networkPolicy={},
    )
    found.wait_healthy(3, VERSION)
    return found


def test_client_without_a_certificate_reads_nothing(etcd: Etcd) -> None:
    address = etcd.world.get("service", "sealed-client")["spec"]["clusterIP"]
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for context in (None, trusting):
        with pytest.raises(REFUSALS):
            ask(address, "/v3/kv/range", {"key": "AA=="}, context)
    etcd.put("read", "with one")
    assert etcd.get("read") == "with one"


def test_certificates_are_exchanged_under_load_without_a_refused_write(etcd: Etcd) -> None:
    pods, before = _pods(etcd), _made(etcd, "member-tls")
    # No member goes here, so a client that waits long enough is answered.
    with Witness(etcd, request_s=MOMENT_S) as witness:
        etcd.world.kubectl("delete", "secret", "sealed-member-tls")
        eventually(lambda: _made(etcd, "member-tls"), lambda made: made and made != before)
        _look_at_secrets(etcd)
        eventually(
            lambda: _shown(etcd),
            lambda shown: shown == [_made(etcd, "member-tls")] * 3,
            timeout_s=PATIENCE_S,
            ignoring=REFUSALS,
        )
        written = witness.written
        eventually(lambda: witness.written > written + 20)
    assert witness.refused == []
    assert _pods(etcd) == pods, "no member started anew"


def test_authority_is_exchanged_without_shutting_a_member_out(etcd: Etcd) -> None:
    keys, before = etcd.fill(5), _made(etcd, "ca")
    with Witness(etcd) as witness:
        etcd.world.kubectl("delete", "secret", "sealed-ca")
        new = eventually(lambda: _made(etcd, "ca"), lambda made: made and made != before)
        eventually(
            lambda: _signer(etcd), lambda signer: signer == _subject(etcd), timeout_s=PATIENCE_S
        )
        etcd.wait_healthy(3, VERSION)
    assert _made(etcd, "ca") == new, "exchanged once"
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert etcd.has(keys)
    assert witness.is_kept


def test_file_that_nothing_uses_any_more_is_made_smaller_in_each_member(etcd: Etcd) -> None:
    for number in range(20):
        etcd.put(f"large-{number}", "x" * 400_000)
    last = etcd.ask("/v3/kv/deleterange", {"key": coded("large-"), "range_end": coded("large.")})
    etcd.ask("/v3/kv/compaction", {"revision": last["header"]["revision"], "physical": True})

    def sizes() -> list[int]:
        etcd.put(
            "written", "afterwards"
        )  # pages of old revisions are free only after the next write
        return [_size(etcd, pod) for pod in etcd.pods(3)]

    eventually(sizes, lambda found: max(found) < 4 * MI, timeout_s=PATIENCE_S)
    cr = etcd.wait_healthy(3, VERSION)
    assert cr["status"]["defragmented"]["member"] in etcd.pods(3)


def test_clients_are_asked_for_a_password_that_is_seen_nowhere(
    etcd: Etcd, operator: Operator
) -> None:
    world, schedule = etcd.world, "0 0 1 1 *"
    etcd.put("read", "with a password")
    world.patch("etcdcluster", "sealed", _spec(authentication={}, backupSchedule=schedule))
    _wait_asks(etcd)
    with pytest.raises(REFUSALS):
        etcd.get("read")
    made = _password(etcd, "sealed-root")
    assert [_is_roots(etcd, password) for password in ("guessed", made)] == [False, True]

    world.kubectl("create", "job", "--from=cronjob/sealed-backup", "asked")
    world.patch("secret", "sealed-root", {"stringData": {"password": "changed-by-hand"}})
    changed = world.get("secret", "sealed-root")["metadata"]["resourceVersion"]
    eventually(
        lambda: etcd.cr["status"]["authentication"]["secretVersion"],
        lambda version: version == changed,
        timeout_s=PATIENCE_S,
    )
    assert [_is_roots(etcd, each) for each in (made, "changed-by-hand")] == [False, True]
    eventually(
        lambda: etcd.cr["status"].get("lastGoodBackup", {}).get("snapshot"),
        lambda snapshot: snapshot == "asked.db",
        timeout_s=PATIENCE_S,
    )
    seen = [world.kubectl("get", kind, "-o", "yaml") for kind in SHOWN]
    seen += [operator.log(pod["metadata"]["name"]) for pod in operator.pods()]
    for password in (made, "changed-by-hand", _password(etcd, "sealed-operator")):
        assert not [text for text in seen if password in text]
        for pod in operator.pods():
            found = operator.execute(pod["metadata"]["name"], "python3", "-c", SEARCH, password)
            assert found.split() == []

    world.patch("etcdcluster", "sealed", _spec(authentication=None))
    eventually(
        lambda: etcd.get("read"),
        lambda value: value == "with a password",
        timeout_s=PATIENCE_S,
        ignoring=REFUSALS,
    )


def _spec(**changes: Any) -> Json:
    return {"spec": changes}


def _wait_asks(etcd: Etcd) -> None:
    eventually(
        lambda: etcd.cr,
        lambda cr: is_ready(cr) and cr["status"].get("authentication", {}).get("enabled"),
        timeout_s=PATIENCE_S,
    )


def _is_roots(etcd: Etcd, password: str) -> bool:
    """Whether etcd takes it; its gateway refuses clients that show a certificate with a name."""
    address = etcd.world.get("service", "sealed-client")["spec"]["clusterIP"]
    root = {"name": "root", "password": password}
    try:
        return "token" in ask(address, "/v3/auth/authenticate", root, _without_name(etcd))
    except HTTPError as refusal:
        said = refusal.read().decode()
        assert "authentication failed" in said, said
        return False


def _without_name(etcd: Etcd) -> ssl.SSLContext:
    """As a client whose certificate has no name."""
    data = etcd.world.get("secret", "sealed-ca")["data"]
    certificate, key = (base64.b64decode(data[name]) for name in ("tls.crt", "tls.key"))
    authority = load_pem_private_key(key, None)
    assert isinstance(authority, ec.EllipticCurvePrivateKey)
    own, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(x509.load_pem_x509_certificate(certificate).subject)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(authority, hashes.SHA256())
    )
    context = ssl.create_default_context(cadata=certificate.decode())
    context.check_hostname = False
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(signed.public_bytes(Encoding.PEM))
        file.write(own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _password(etcd: Etcd, secret: str) -> str:
    return base64.b64decode(etcd.world.get("secret", secret)["data"]["password"]).decode()


def _pods(etcd: Etcd) -> dict[str, tuple[str, int]]:
    """Which pods there are, and how often their containers started."""
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            pod["status"]["containerStatuses"][0]["restartCount"],
        )
        for pod in etcd.world.list("pods", "mycompany.com/etcdcluster=sealed")
    }


def _addresses(etcd: Etcd) -> list[str]:
    pods: list[Json] = [etcd.world.get("pod", pod) for pod in etcd.pods(3)]
    return [pod["status"]["podIP"] for pod in pods]


def _size(etcd: Etcd, pod: str) -> int:
    address = etcd.world.get("pod", pod)["status"]["podIP"]
    return int(ask(address, "/v3/maintenance/status", {}, etcd.context())["dbSize"])


def _look_at_secrets(etcd: Etcd) -> None:
    """A kubelet looks at Secrets when it looks at a pod, which a change of that brings about."""
    for pod in etcd.pods(3):
        etcd.world.kubectl("annotate", "pod", pod, "looked-at=now", "--overwrite")


def _certificate(etcd: Etcd, secret: str) -> Any:
    data = etcd.world.get("secret", f"sealed-{secret}").get("data")
    return x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"])) if data else None


def _made(etcd: Etcd, secret: str) -> int:
    found = _certificate(etcd, secret)
    return int(found.serial_number) if found else 0


def _signer(etcd: Etcd) -> Any:
    found = _certificate(etcd, "member-tls")
    return found.issuer if found else None


def _subject(etcd: Etcd) -> Any:
    found = _certificate(etcd, "ca")
    return found.subject if found else None


def _shown(etcd: Etcd) -> list[int]:
    """Serial numbers of what each member shows to a new connection."""
    context = etcd.context()
    assert context is not None
    found = []
    for address in _addresses(etcd):
        with (
            socket.create_connection((address, 2379), timeout=3) as plain,
            context.wrap_socket(plain) as sealed,
        ):
            shown = sealed.getpeercert(binary_form=True)
            assert shown is not None
            found.append(x509.load_der_x509_certificate(shown).serial_number)
    return found
