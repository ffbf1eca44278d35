"""Who a run works for, and the credential that says so."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from pathlib import Path

import aiohttp
import pytest
import yaml

from rolecall.proxy.identity import (
    Owner,
    decode_identity,
    encode_identity,
    parse_basic_authorization,
)
from rolecall.proxy.kubeconfig import write_kubeconfig
from rolecall.proxy.run_credentials import RunCredential, RunCredentials
from tests.unit.proxy.crs import UID, owner, watch


def test_identity_has_the_known_format() -> None:
    decoded = base64.urlsafe_b64decode(encode_identity(owner()))
    assert decoded.decode() == (
        '{"apiVersion":"demo.example.com/v1","kind":"App","name":"shop",'
        f'"uid":"{UID}","Namespace":"prod"}}'
    )


@pytest.mark.parametrize("alphabet", [b"-_", b"+/"])
def test_identity_is_read_in_either_alphabet(alphabet: bytes) -> None:
    odd = owner(name="???>>>~~~")
    text = base64.urlsafe_b64decode(encode_identity(odd))
    encoded = base64.b64encode(text, altchars=alphabet).decode()
    assert decode_identity(encoded) == odd
    assert decode_identity(encoded.rstrip("=")) == odd


@pytest.mark.parametrize("text", ["", "unused", "%%%", "bnVsbA==", "W10=", "eyJhIjoxfQ==", "é"])
def test_invalid_identity_names_no_cr(text: str) -> None:
    assert decode_identity(text) is None


@pytest.mark.parametrize("header", ["", "Basic", "Basic =", "Bearer abc", "Basic bm8=", "Basic é"])
def test_what_is_no_basic_header_is_nothing(header: str) -> None:
    assert parse_basic_authorization(header) is None


def test_password_with_a_colon_is_read_whole() -> None:
    header = aiohttp.encode_basic_auth("user", "a:b")
    assert parse_basic_authorization(header) == ("user", "a:b")


def test_run_credential_is_found_until_it_is_revoked() -> None:
    credentials = RunCredentials()
    credential = credentials.issue("run", owner(), watch())
    other = credentials.issue("other", owner(), watch())
    header = aiohttp.encode_basic_auth(credential.user_name, credential.password)
    assert credentials.find(header) is credential
    assert credential.password != other.password
    credentials.revoke(credential)
    credentials.revoke(credential)
    assert credentials.find(header) is None


def test_run_credential_does_not_show_its_password() -> None:
    credential = RunCredentials().issue("run", owner(), watch())
    assert credential.password not in repr(credential)


async def test_revoking_cuts_open_requests() -> None:
    credentials = RunCredentials()
    credential = credentials.issue("run", owner(), watch())

    async def request() -> None:
        with credential.serving():
            await asyncio.Event().wait()

    task = asyncio.create_task(request())
    await asyncio.sleep(0)
    credentials.revoke(credential)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not credential.open_requests


@pytest.mark.parametrize("namespace", ["prod", ""])
def test_kubeconfig_is_private_and_names_the_real_port(tmp_path: Path, namespace: str) -> None:
    credential = RunCredentials().issue("run", owner(namespace), watch())
    path = write_kubeconfig(credential, 4711, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config = yaml.safe_load(path.read_text())
    assert json.loads(json.dumps(config)) == {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [
            {
                "name": "proxy-server",
                "cluster": {
                    "server": f"http://{credential.user_name}:{credential.password}@localhost:4711",
                    "insecure-skip-tls-verify": True,
                },
            }
        ],
        "users": [
            {
                "name": "admin/proxy-server",
                "user": {"username": credential.user_name, "password": credential.password},
            }
        ],
        "contexts": [
            {
                "name": f"{namespace}/proxy-server",
                "context": {"cluster": "proxy-server", "user": "admin/proxy-server"},
            }
        ],
        "current-context": f"{namespace}/proxy-server",
    }


def test_identity_of_a_cr_in_no_cluster_and_in_no_namespace_is_empty_there() -> None:
    cr = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}}
    assert (Owner.of(cr).uid, Owner.of(cr).namespace) == ("", "")
    assert decode_identity(encode_identity(Owner.of(cr))) == Owner.of(cr)


@pytest.mark.parametrize("length", range(1, 9))
def test_identity_of_any_length_is_read_without_its_padding(length: int) -> None:
    named = owner(name="x" * length)
    assert decode_identity(encode_identity(named).rstrip("=")) == named


def test_identity_without_a_namespace_is_cluster_scoped_and_with_more_fields_is_invalid() -> None:
    fields = {**owner().reference()}
    encoded = base64.b64encode(json.dumps(fields).encode()).decode()
    assert decode_identity(encoded) == owner(namespace="")
    assert decode_identity(f"{encoded[:8]} !{encoded[8:]}") is None
    for name in fields:
        less = {key: value for key, value in fields.items() if key != name}
        assert decode_identity(base64.b64encode(json.dumps(less).encode()).decode()) is None


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_scheme_is_read_in_any_case_and_rubbish_in_what_follows_is_not(scheme: str) -> None:
    encoded = base64.b64encode(b"u:p").decode()
    assert parse_basic_authorization(f"{scheme}  {encoded} ") == ("u", "p")
    assert parse_basic_authorization(f"{scheme} {encoded[:2]}!{encoded[2:]}") is None
    no_text = base64.b64encode(b"\xff:p").decode()
    assert parse_basic_authorization(f"{scheme} {no_text}") is None


def test_credential_is_found_under_its_identity_in_any_spelling_and_no_other() -> None:
    credentials = RunCredentials()
    credential = credentials.issue("run", owner(name="???>>>"), watch())
    other = credentials.issue("other", owner(), watch())
    standard = credential.user_name.replace("-", "+").replace("_", "/").rstrip("=")

    def found(user: str, password: str) -> object:
        return credentials.find(aiohttp.encode_basic_auth(user, password))

    assert standard != credential.user_name
    assert found(standard, credential.password) is credential
    assert found(other.user_name, credential.password) is None
    assert found("", credential.password) is None
    assert found(credential.user_name, credential.password + "x") is None
    assert len(base64.urlsafe_b64decode(credential.password)) == 24
    credentials.revoke_all()
    assert found(credential.user_name, credential.password) is None
    assert found(other.user_name, other.password) is None


def test_credential_reads_and_writes_unless_it_is_said_otherwise() -> None:
    credential = RunCredentials().issue("run", owner(), watch())
    assert not credential.is_ending
    assert not credential.reads_only
    assert credential.world is None
    assert credential.may_write()


def test_credential_shows_who_it_is_for_and_nothing_of_what_its_run_asked() -> None:
    credential = RunCredentials().issue("run", owner(), watch())
    for name in (
        "password",
        "open_requests",
        "seen_documents",
        "refused_rights",
        "unowned",
        "notes",
        "world",
        "hand",
    ):
        assert f"{name}=" not in repr(credential)
    assert "run_id='run'" in repr(credential)


def test_credential_of_nothing_but_a_name_is_that_of_an_ordinary_run() -> None:
    credential = RunCredential("run", owner(), watch(), "user", "password")
    assert not (credential.is_ending or credential.reads_only or credential.unowned)
