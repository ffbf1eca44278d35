"""The files of a cluster: names, records, locks, kubeconfigs, keys."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from rolecall.errors import InputError
from rolecall_dev.localcluster import ClusterAccess, Layout, clusters_folder, write_kubeconfig
from rolecall_dev.localcluster.identities import Authority, copy_kubeconfig, is_ours
from rolecall_dev.localcluster.layout import Ports, Record
from rolecall_dev.localcluster.system import locked

RECORD = Record(
    ports=Ports(1, 2, 3, 4, 5),
    started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    kubernetes_version="v1.2.3",
    nodes=2,
    programs={"etcd": "/bin/etcd"},
    copies=("/home/me/config",),
)


@pytest.mark.parametrize("name", ["", "Up", "a_b", "-a", "a-", "../x", "a/b", "a" * 41, "ä", "a\n"])
def test_name_that_fits_no_file_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is not usable"):
        Layout.named(name)


def test_state_follows_the_variables_that_users_know() -> None:
    assert clusters_folder({"ROLECALL_STATE": "/s"}) == Path("/s/clusters")
    assert clusters_folder({"XDG_STATE_HOME": "/x"}) == Path("/x/rolecall/clusters")


def test_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.write_record(RECORD)
    read = layout.read_record()
    assert read is not None
    assert read.ports == RECORD.ports
    assert read.to_json() == RECORD.to_json()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"ports": 7}'])
def test_unreadable_record_counts_as_none(tmp_path: Path, content: str) -> None:
    Layout(tmp_path).record.write_text(content)
    assert Layout(tmp_path).read_record() is None


def test_lock_leaves_no_file(tmp_path: Path) -> None:
    with locked(tmp_path / "new"):
        assert list((tmp_path / "new").iterdir()) == []


def test_second_holder_waits_and_says_so(tmp_path: Path) -> None:
    order: list[str] = []
    is_waiting = threading.Event()

    def second() -> None:
        with locked(tmp_path, is_waiting.set):
            order.append("second")

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        assert is_waiting.wait(30)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_lock_on_a_folder_that_its_holder_removed_is_a_lock_on_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "it"
    is_waiting = threading.Event()
    seen: list[bool] = []

    def second() -> None:
        with locked(folder, is_waiting.set):
            seen.append(folder.exists())

    with locked(folder):
        thread = threading.Thread(target=second)
        thread.start()
        assert is_waiting.wait(30)
        folder.rmdir()
    thread.join()
    assert seen == [True]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    (tmp_path / "pki").mkdir()
    return Authority(tmp_path / "pki")


def test_keys_are_readable_by_their_owner_only(authority: Authority, tmp_path: Path) -> None:
    pair = authority.client("admin", "admin", ("system:masters",))
    for path in (pair.key, pair.certificate, tmp_path / "pki" / "ca.key"):
        assert path.stat().st_mode & 0o077 == 0


def test_user_and_groups_are_in_the_subject(authority: Authority) -> None:
    pair = authority.client("admin", "jane", ("one", "two"))
    certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=jane,O=two,O=one"


def test_kubeconfig_is_private_and_whole(authority: Authority, tmp_path: Path) -> None:
    access = ClusterAccess(
        "https://127.0.0.1:1", authority.certificate, token="t", namespace="here"
    )
    path = write_kubeconfig(tmp_path / "kubeconfig", access)
    assert path.stat().st_mode & 0o077 == 0
    content = yaml.safe_load(path.read_text())
    assert content["users"][0]["user"] == {"token": "t"}
    assert content["contexts"][0]["context"]["namespace"] == "here"


def test_copy_never_replaces_a_kubeconfig_of_the_user(authority: Authority, tmp_path: Path) -> None:
    pair = authority.client("admin", "admin")
    access = ClusterAccess(
        "https://127.0.0.1:1", authority.certificate, pair, name="rolecall-default"
    )
    ours = write_kubeconfig(tmp_path / "ours", access)
    target = tmp_path / "deep" / "config"
    copy_kubeconfig(ours, target)
    copy_kubeconfig(ours, target)  # our own copy may be replaced
    assert is_ours(target)
    target.write_text("clusters: [{name: rolecall-a}, {name: production}]")
    with pytest.raises(InputError, match="was not written by"):
        copy_kubeconfig(ours, target)
    assert "production" in target.read_text()
