"""Kubeconfigs: from the file to the headers and the TLS of a login, with secrets in every place."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.kube import Credentials, CredentialsError
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must

# In each place of its own, and looked for in whatever is said.
_TOKEN, _PASSWORD, _KEY = "tok-3f9a1c77e0", "pass-77aa90b1d2", "key-c0ffee1234567890"
_PEM = f"-----BEGIN PRIVATE KEY-----\n{_KEY}\n-----END PRIVATE KEY-----\n"
_SECRETS = (_TOKEN, _PASSWORD, _KEY, base64.b64encode(_PEM.encode()).decode())
_FILES = {"token": _TOKEN + "\n", "odd-token": "\xff\n\x00", "key.pem": _PEM, "empty": ""}


def _base(dice: Dice) -> dict[str, Any]:
    user = dice.pick(
        (
            {"token": _TOKEN},
            {"username": "me", "password": _PASSWORD},
            {"tokenFile": dice.pick(tuple(_FILES))},
            {"client-key-data": base64.b64encode(_PEM.encode()).decode()},
            {"client-certificate": "key.pem", "client-key": "key.pem", "token": _TOKEN},
            {"token": _TOKEN, "as": dice.text(), "as-uid": dice.text()},
            {"exec": {"command": "/nowhere/plugin", "env": [{"name": "T", "value": _TOKEN}]}},
            {"auth-provider": {"name": "gcp", "config": {"access-token": _TOKEN}}},
            {"token": dice.text() + _TOKEN + dice.text()},
        )
    )
    cluster: dict[str, Any] = {
        "server": dice.pick(("https://127.0.0.1:6443", "http://h/b/", "h:1"))
    }
    if dice.happens(0.3):
        cluster |= dice.pick(
            (
                {"insecure-skip-tls-verify": True},
                {"certificate-authority-data": "aGk="},
                {"certificate-authority": "key.pem"},
                {"proxy-url": f"http://me:{_PASSWORD}@proxy:1"},
                {"tls-server-name": dice.text()},
                {"server": dice.text()},
            )
        )
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
        "current-context": "x",
    }


def _make(dice: Dice) -> dict[str, Any]:
    text = json.dumps(dice.changed(_base(dice), dice.pick((0.0, 0.02, 0.06))), indent=1)
    if dice.happens(0.25):
        text = dice.damaged(text)
    return {"text": text}


def _may_run(text: str) -> bool:
    """A program that is there must not be run by a test: one that begins at the root is not there."""
    return '"exec"' in text and "/nowhere/plugin" not in text


@contextmanager
def _open(folder: Path) -> Iterator[Check]:
    for name, content in _FILES.items():
        (folder / name).write_bytes(content.encode("latin-1"))
    file = folder / "config"
    loop = asyncio.new_event_loop()

    async def used(credentials: Credentials) -> dict[str, str]:
        _ = (
            credentials.server,
            credentials.target,
            credentials.server_digest,
            credentials.namespace,
        )
        return dict((await credentials.current()).headers)

    def check(case: Any) -> bool:
        if _may_run(case["text"]):
            return False
        file.write_text(case["text"], encoding="utf-8", errors="surrogatepass")
        try:
            credentials = Credentials.load({"KUBECONFIG": str(file), "HOME": str(folder)})
            must(_TOKEN not in credentials.target, "what is logged of the server holds no token")
            headers = loop.run_until_complete(used(credentials))
        except CredentialsError as refusal:
            said = str(refusal) + repr(refusal)
            # What a person wrote in another place than that of a secret may be quoted.
            is_in_place = case["text"].count(_TOKEN) + case["text"].count(_PASSWORD) <= 1
            must(
                not is_in_place or not any(secret in said for secret in _SECRETS),
                f"no secret: {said}",
            )
            return False
        for name, value in headers.items():
            must(not {"\r", "\n", "\0"} & {*name, *value}, f"header {name} is one line")
            with contextlib.suppress(UnicodeEncodeError):
                value.encode("utf-8")
        return True

    try:
        yield check
    finally:
        loop.close()


KUBECONFIGS = EntryPoint("kubeconfigs", _make, _open, cases=1200)
