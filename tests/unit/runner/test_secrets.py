from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from rolecall.runner.secrets import MASK, Redactor
from tests.unit.runner.cases import Reported, app

VALUE = "s3cr3t-passw0rd"
ENCODED = base64.b64encode(VALUE.encode()).decode()


def secret(**data: str) -> dict[str, Any]:
    """A Secret as the API returns it."""
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": encoded}


def knowing(*values: Any) -> Redactor:
    redactor = Redactor()
    for value in values:
        redactor.learn(value)
    return redactor


@pytest.mark.parametrize(
    "result",
    [
        {"result": secret(password=VALUE)},
        {"resources": [secret(password=VALUE)]},
        {"results": [{"item": 1, "result": secret(password=VALUE)}]},
        {"invocation": {"module_args": {"definition": secret(password=VALUE)}}},
        {"invocation": {"module_args": {"definition": [secret(password=VALUE)]}}},
        {"module_args": {"definition": {"kind": "Secret", "stringData": {"password": VALUE}}}},
        {"definition": yaml.safe_dump({"kind": "Secret", "stringData": {"password": VALUE}})},
        {"definition": json.dumps(secret(password=VALUE))},
        {"ansible_facts": {"found": secret(password=VALUE)}},
    ],
)
def test_secrets_are_found_wherever_a_result_holds_them(result: dict[str, Any]) -> None:
    redactor = knowing({"res": result})
    assert redactor.text(f"got {VALUE} and {ENCODED}") in (
        f"got {MASK} and {MASK}",
        f"got {MASK} and {ENCODED}",  # where only the clear text was ever seen
    )
    assert VALUE not in json.dumps(redactor.value(result))
    assert "password" in json.dumps(redactor.value(result))


def test_the_old_values_in_a_diff_are_hidden_too() -> None:
    old = {"data": {"password": base64.b64encode(b"older-passw0rd").decode()}}
    redactor = knowing({"result": secret(password=VALUE), "diff": {"before": old, "after": {}}})
    assert redactor.text("was older-passw0rd") == f"was {MASK}"


def test_what_a_secret_does_not_hold_stays_readable() -> None:
    result = {
        "msg": f"Failed to create object: 422 Unprocessable Entity: {VALUE} is too weak",
        "status": 422,
        "reason": "Invalid",
        "error": 422,
        "object": "Secret/x",
    }
    masked = knowing(secret(password=VALUE)).value(result)
    assert masked == {**result, "msg": result["msg"].replace(VALUE, MASK)}  # type: ignore[attr-defined]


def test_escaped_and_multi_line_values_are_hidden_in_every_form() -> None:
    key = '-----BEGIN KEY-----\nMIIEvQ"IBADAN+Bgkqh\nkiG9w0BAQEFAASC\n-----END KEY-----\n'
    redactor = knowing(secret(key=key))
    for form in (key, json.dumps(key), 'x\nMIIEvQ"IBADAN+Bgkqh\ny', "line kiG9w0BAQEFAASC only"):
        masked = redactor.text(form)
        assert "IBADAN" not in masked
        assert "kiG9w0" not in masked


def test_short_values_are_hidden_as_words_only() -> None:
    redactor = knowing(secret(pin="1234", user="b0b"))
    assert redactor.text("pin 1234, port 12345, b0b, b0bsled") == (
        f"pin {MASK}, port 12345, {MASK}, b0bsled"
    )


def test_tiny_and_everyday_values_are_hidden_in_their_secret_only() -> None:
    found = secret(a="x", on="true", host="localhost")
    redactor = knowing(found)
    text = '{"changed": true, "host": "localhost", "x": 1}'
    assert redactor.text(text) == text
    assert redactor.value(found)["data"] == dict.fromkeys(found["data"], MASK)


CR = {**app(), "kind": "AutomationHub", "metadata": {"name": "awx-demo", "namespace": "towers"}}
ORDINARY = {
    **{
        "database": "awx",
        "username": "awx",
        "sslmode": "prefer",
        "type": "managed",
        "port": "5432",
    },
    **{"Zone": "EUROPE", "user": "Admin", "host": "awx-demo-postgres-15"},
    **{"address": "awx-demo.towers.svc"},
}
OF_THE_CR = ["awx", "demo", "awx-demo", "towers", "AutomationHub", "automation", "HUB"]
GUESSED = ["letmein", "1234", "EUROPE", "a-b", "hunter2", "s3cret", "awx-demo-password"]


@pytest.mark.parametrize(("key", "word"), ORDINARY.items())
@pytest.mark.parametrize(
    "said", ["https://{}.example.com/api", "TASK [role : make {} ready]", "{}"]
)
def test_ordinary_words_are_hidden_in_their_secret_only(
    tmp_path: Path, key: str, word: str, said: str
) -> None:
    redactor = Redactor.for_run(CR, tmp_path / "missing")
    found = secret(**{key: word}, password=VALUE)
    redactor.learn(found)
    redactor.learn({**found, "data": None, "stringData": {key: word}})
    assert redactor.text(said.format(word)) == said.format(word)
    assert redactor.value(found)["data"] == dict.fromkeys(found["data"], MASK)
    assert redactor.text(VALUE) == MASK


@pytest.mark.parametrize("word", OF_THE_CR)
@pytest.mark.parametrize("key", ["database", "password"])
def test_words_of_the_crs_own_identity_stay_readable(tmp_path: Path, key: str, word: str) -> None:
    redactor = Redactor.for_run(CR, tmp_path / "missing")
    redactor.learn(secret(**{key: word}))
    assert redactor.text(f"GET https://{word}/") == f"GET https://{word}/"


@pytest.mark.parametrize("word", GUESSED)
@pytest.mark.parametrize(
    "key", ["password", "admin_pwd", "apiToken", "SECRET_KEY", "pin", "passcode"]
)
def test_ordinary_word_is_hidden_where_its_key_names_a_credential(
    tmp_path: Path, key: str, word: str
) -> None:
    redactor = Redactor.for_run(CR, tmp_path / "missing")
    redactor.learn(secret(**{key: word}))
    assert redactor.text(f"login with {word} failed") == f"login with {MASK} failed"


@pytest.mark.parametrize("word", ["p4ss", "aB3xyz", "123456", "correct-horse", "qwertyuiop"])
def test_short_values_that_are_no_words_and_long_ones_are_hidden_whatever_their_key(
    word: str,
) -> None:
    assert knowing(secret(x=word)).text(f"({word})") == f"({MASK})"


def test_the_longest_value_goes_first_so_that_no_rest_stays() -> None:
    redactor = knowing(secret(short="passw0rd", long="passw0rd-and-more"))
    assert redactor.text("passw0rd-and-more") == MASK


@pytest.mark.parametrize("value", ['a"b\\c é', "tab\tand\nline", "p@ss/w rd?&=%"])
def test_a_value_is_hidden_in_json_within_json_and_in_a_url(value: str) -> None:
    redactor = knowing(secret(password=value))
    for is_ascii in (True, False):
        once = json.dumps({"password": value}, ensure_ascii=is_ascii)
        for again in (True, False):
            twice = json.dumps({"msg": once}, ensure_ascii=again)
            assert redactor.text(twice) == json.dumps({"msg": '{"password": "********"}'})
    for safe in ("/", ""):
        url = f"postgres://admin:{quote(value, safe=safe)}@db"
        assert redactor.text(url) == f"postgres://admin:{MASK}@db"


def test_a_cr_that_is_a_secret_is_one(tmp_path: Path) -> None:
    redactor = Redactor.for_run(secret(password=VALUE), tmp_path / "missing")
    assert redactor.text(VALUE) == MASK


def test_the_runs_own_credential_is_hidden(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    user = {"username": "who", "password": "per-run-random"}
    kubeconfig.write_text(yaml.safe_dump({"users": [{"name": "a", "user": user}]}))
    redactor = Redactor.for_run(app(), kubeconfig)
    header = base64.b64encode(b"who:per-run-random").decode()
    text = f"Basic {header} for who with per-run-random"
    assert redactor.text(text) == f"Basic {MASK} for who with {MASK}"


@pytest.mark.parametrize("text", ["", "{", "[]", "users: 5", "users: [5, {user: 7}]", "\x00"])
def test_an_odd_kubeconfig_is_no_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    assert Redactor.for_run(app(), tmp_path / "kubeconfig").known == 0


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "Secret", "data": 5, "stringData": [1]},
        {"kind": "Secret", "data": {"a": None, "b": 5, "c": "%%%", "d": "/w=="}},
        {"definition": "kind: Secret\ndata: {unclosed"},
        {"definition": "kind: Secret\na: &a [x]\nb: [*a, *a]"},
    ],
)
def test_odd_secrets_are_no_error(value: Any) -> None:
    redactor = knowing(value)
    redactor.value(value)


def test_a_yaml_bomb_is_not_opened() -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    redactor = knowing({"definition": f"kind: Secret\na0: &a0 [x]\n{levels}"})
    assert redactor.known == 0


def test_events_reach_others_without_the_secrets_that_they_themselves_reveal() -> None:
    reported = Reported()
    reported.event(
        "runner_on_ok", f'ok => {{"data": "{ENCODED}"}}', res={"result": secret(password=VALUE)}
    )
    reported.event("runner_on_ok", f"msg: {VALUE}", task=f"use {VALUE}", res={"msg": [VALUE]})
    reported.failed("a", f"login with {VALUE} failed: 401").stats(failures=1)
    for event in reported.seen:
        assert VALUE not in repr(event)
        assert ENCODED not in repr(event)
    (failure,) = reported.result(2).failures
    assert failure.message == f"login with {MASK} failed: 401"


def test_a_secret_that_holds_a_host_name_does_not_break_the_recap() -> None:
    reported = Reported(knowing(secret(host="database-host"))).failed("a", host="database-host")
    reported.stats(failures={"database-host": 1})
    assert reported.seen[-1].data["failures"] == {"database-host": 1}
    assert len(reported.result(2).failures) == 1


TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6Ik1.eyJhdWQiOlsiaHR0cHM6Ly9r.c2lnbmF0dXJlLW9mLWl0"
LOGIN = base64.b64encode(b"admin:hunter2-hunter2").decode()


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        (TOKEN, TOKEN),
        (f"token: {TOKEN}\n", TOKEN),
        (json.dumps({"stdout": json.dumps({"token": TOKEN})}), TOKEN),
        (f"Authorization: Basic {LOGIN}", LOGIN),
        (json.dumps({"headers": {"Authorization": f"Basic {LOGIN}"}}), LOGIN),
        (f"curl -H 'authorization: basic {LOGIN}' https://x", LOGIN),
        ("Authorization: Bearer abcdefgh01234567ijkl", "abcdefgh01234567ijkl"),
    ],
)
def test_credentials_that_no_secret_holds_are_hidden_by_their_shape(said: str, hidden: str) -> None:
    """As `kubectl create token` prints one, or a task sends its login."""
    redactor = Redactor()
    assert redactor.may_hide(json.dumps({"stdout": said}))
    text = redactor.text(said)
    assert hidden not in text and MASK in text
    assert hidden not in json.dumps(redactor.value({"results": [{"stdout": said}]}))


@pytest.mark.parametrize(
    "said",
    [
        "Basic authentication is not enabled",
        "Bearer authentication with mutual-tls-certificates",
        "the Basic configuration/of-this-role=",
        "Basic Y29uZmlndXJhdGlvbg==",
        "eyJust a word.that looks.alike",
    ],
)
def test_prose_that_looks_like_a_credential_stays_readable(said: str) -> None:
    assert Redactor().text(said) == said
