"""A start that fails: programs that are shell scripts, and what is left of them afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rolecall.errors import ClusterError, InputError
from rolecall_dev.localcluster import (
    Binaries,
    InUseError,
    Layout,
    MissingProgramsError,
    Wanted,
    bring_up,
    processes,
)
from rolecall_dev.localcluster.api import Api
from rolecall_dev.localcluster.cluster import wait_until_ready
from rolecall_dev.localcluster.identities import write_identities_of_simulated
from rolecall_dev.localcluster.layout import Ports, Record
from rolecall_dev.localcluster.programs import NEEDED
from rolecall_dev.localcluster.system import free_ports
from tests.fixtures.eventually import eventually

Programs = Callable[[str], Binaries]


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """All programs wait forever, but the API server does what the test says."""

    def make(apiserver: str) -> Binaries:
        paths = {}
        for name in NEEDED:
            script = apiserver if name == "kube-apiserver" else "exec sleep 600"
            paths[name] = tmp_path / "bin" / name
            paths[name].parent.mkdir(exist_ok=True)
            paths[name].write_text(f"#!/bin/sh\n{script}\n")
            paths[name].chmod(0o755)
        return Binaries(paths)

    return make


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    return Wanted(name="it", root=tmp_path / "clusters")


def assert_nothing_is_left(wanted: Wanted) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    assert not layout.folder.exists()
    assert processes.find(layout.folder) == []


def test_component_that_ends_early_is_quoted(programs: Programs, wanted: Wanted) -> None:
    with pytest.raises(ClusterError) as caught:
        bring_up(wanted, programs("echo 'Error: unknown flag: --colour' >&2; exit 7"))
    assert "`kube-apiserver` ended with code 7" in caught.value.message
    assert "unknown flag: --colour" in caught.value.message
    assert_nothing_is_left(wanted)


def test_other_ports_are_tried_when_a_faster_program_took_them(
    programs: Programs, wanted: Wanted, tmp_path: Path
) -> None:
    script = f'echo "$@" >> {tmp_path}/tried; echo "listen: address already in use"; exit 1'
    with pytest.raises(ClusterError, match="took the chosen ports 3 times"):
        bring_up(wanted, programs(script))
    tries = (tmp_path / "tried").read_text().splitlines()
    ports = {word for line in tries for word in line.split() if word.startswith("--secure-port")}
    assert len(tries) == len(ports) == 3
    assert_nothing_is_left(wanted)


def test_api_server_that_is_never_ready_is_given_up(
    programs: Programs, wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall_dev.localcluster.launch._READY_S", 0.2)
    with pytest.raises(ClusterError, match=r"not ready within .*\n  thinking"):
        bring_up(wanted, programs("echo thinking; exec sleep 600"))
    assert_nothing_is_left(wanted)


def test_api_server_of_a_busy_machine_that_takes_seconds_to_answer_becomes_ready() -> None:
    class Slow(Api):
        def __init__(self) -> None:
            pass

        def is_ready(self, timeout_s: float = 1.0) -> bool:
            return timeout_s > 5  # it was asked each second, and never in time

    wait_until_ready(Slow(), timeout_s=0.1)


def test_missing_programs_stop_the_start_before_it_begins(wanted: Wanted) -> None:
    with pytest.raises(MissingProgramsError):
        bring_up(wanted, Binaries({}))
    assert_nothing_is_left(wanted)


@pytest.mark.parametrize("nodes", [-1, 10_001])
def test_number_of_nodes_must_be_sensible(programs: Programs, wanted: Wanted, nodes: int) -> None:
    with pytest.raises(InputError, match=r"nodes `-?\d+`"):
        bring_up(Wanted(name="it", root=wanted.root, nodes=nodes), programs(""))
    assert_nothing_is_left(wanted)


def test_cluster_of_other_programs_is_not_mixed_with_ours(
    programs: Programs, wanted: Wanted
) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    layout.folder.mkdir(parents=True)
    began = datetime(2026, 1, 1, tzinfo=UTC)
    layout.write_record(Record(Ports(1, 2, 3, 1, 2), began, "v1.0.0", 1, {"etcd": "/old/etcd"}))
    with pytest.raises(
        InputError, match=r"made with other programs \(Kubernetes v1\.0\.0\)"
    ) as caught:
        bring_up(wanted, programs(""))
    assert "rolecall cluster down --name it" in caught.value.hint
    assert layout.record.exists()


@pytest.mark.parametrize("kept", [True, False])
def test_cluster_of_a_demo_that_goes_on_is_not_taken_from_it(
    programs: Programs, wanted: Wanted, kept: bool
) -> None:
    layout = recorded(wanted)
    with a_process_that_claims(layout.folder) as owner:
        with pytest.raises(InUseError, match="belongs to a demo or test that is still running"):
            bring_up(replace(wanted, kept=kept), programs(""))
        assert layout.record.exists()
        owner.kill()
    with pytest.raises(ClusterError, match="ended with code 1"):
        bring_up(replace(wanted, kept=kept), programs("exit 1"))  # made anew, on nothing
    assert_nothing_is_left(wanted)


def test_cluster_that_is_kept_is_not_removed_at_the_end_of_a_demo(
    programs: Programs, wanted: Wanted
) -> None:
    layout = recorded(wanted)
    with pytest.raises(InUseError, match="would be removed at the end of this command"):
        bring_up(replace(wanted, kept=False), programs(""))
    assert layout.record.exists()


def recorded(wanted: Wanted) -> Layout:
    layout = Layout.named(wanted.name, wanted.root)
    layout.folder.mkdir(parents=True)
    began = datetime(2026, 1, 1, tzinfo=UTC)
    layout.write_record(Record(Ports(1, 2, 3, 1, 2), began, "v1.0.0", 1, {"etcd": "/old/etcd"}))
    return layout


@contextmanager
def a_process_that_claims(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    script = (
        "import sys; from pathlib import Path; from rolecall_dev.localcluster.owner import claim;"
        "claim(Path(sys.argv[1])); print('on', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        yield owner


def test_what_an_interrupted_start_left_is_removed(programs: Programs, wanted: Wanted) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    layout.folder.mkdir(parents=True)
    orphan = processes.start(processes.Command("etcd", ["/bin/sleep", "600"], layout.folder))
    eventually(lambda: processes.find(layout.folder))
    said: list[str] = []
    with pytest.raises(ClusterError):
        bring_up(wanted, programs("exit 1"), said.append)
    assert said == ["removing what an interrupted `up` left"]
    assert not Path(f"/proc/{orphan}").exists()
    assert_nothing_is_left(wanted)


DAY = timedelta(days=1)


@pytest.fixture
def made_earlier(programs: Programs, wanted: Wanted) -> Callable[..., Binaries]:
    """A cluster that is not running, with certificates from some other time or version."""

    def make(*, begins: timedelta = -DAY, ends: timedelta = DAY, strict: bool = True) -> Binaries:
        binaries = programs("echo starting; exit 7")
        layout = Layout.named(wanted.name, wanted.root)
        layout.folder.mkdir(parents=True)
        apiserver, etcd, peer = free_ports(3)
        ports = Ports(apiserver, etcd, peer, apiserver, etcd)
        write_identities_of_simulated(layout, ports)
        write_authority(layout.certificates / "ca.crt", begins, ends, strict=strict)
        paths = {name: str(path) for name, path in binaries.paths.items()}
        layout.write_record(Record(ports, datetime.now(UTC), "v1.0.0", 1, paths))
        return binaries

    return make


def write_authority(file: Path, begins: timedelta, ends: timedelta, *, strict: bool) -> None:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rolecall-local-cluster")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now + begins, now + ends)
    if strict:
        named = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        builder = builder.add_extension(named, False)
    made = builder.sign(key, hashes.SHA256())
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))


@pytest.mark.parametrize(
    ("age", "words"),
    [
        ({"begins": -2 * DAY, "ends": -DAY}, "the certificates of cluster `it` expired on 20"),
        ({"begins": DAY, "ends": 2 * DAY}, "and it is .* UTC here\nhint: set the clock"),
    ],
)
def test_cluster_whose_certificates_are_not_valid_now_says_so_at_once(
    made_earlier: Callable[..., Binaries], wanted: Wanted, age: dict[str, timedelta], words: str
) -> None:
    binaries = made_earlier(**age)
    with pytest.raises(ClusterError) as caught:
        bring_up(wanted, binaries)
    assert re.search(words, str(caught.value))
    assert Layout.named(wanted.name, wanted.root).record.exists()


def test_cluster_with_certificates_of_an_older_version_goes_on_and_says_so(
    made_earlier: Callable[..., Binaries], wanted: Wanted
) -> None:
    binaries, said = made_earlier(strict=False), list[str]()
    with pytest.raises(ClusterError, match="ended with code 7"):  # it was started
        bring_up(wanted, binaries, said.append)
    assert "certificates of an older version" in said[0]
    assert "`rolecall cluster down --name it`, then `up`, makes a new one" in said[0]


@pytest.mark.parametrize(
    ("nodes", "relays", "words"),
    [(0, False, "must be between 1 and 9"), (1, True, "for simulated nodes only")],
)
def test_real_nodes_that_cannot_be_are_refused_before_anything_is_made(
    wanted: Wanted, nodes: int, relays: bool, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        bring_up(replace(wanted, real=True, nodes=nodes, relays=relays), Binaries({}))
    assert not wanted.root.exists()
