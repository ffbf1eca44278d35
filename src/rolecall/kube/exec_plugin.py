"""Runs an exec credential plugin: a cloud provider's program that prints a credential.

The program gets what client-go gives it (`KUBERNETES_EXEC_INFO`), never our standard input, and
half a minute; what it prints to standard error is logged, cut short, when it fails, and shown
nowhere else.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.kube.errors import CredentialsError
from rolecall.kube.login import ExecPlugin, Login

TIME_LIMIT_S = 30.0
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Issued:
    """A login completed by a plugin, and until when it is good (None: until a 401)."""

    login: Login
    expires: datetime | None


async def run_exec_plugin(login: Login, environ: Mapping[str, str]) -> Issued:
    plugin = login.exec_plugin
    if plugin is None:
        raise ValueError("the login has no exec plugin")
    output = await _output_of(plugin, environ, _exec_info(plugin, login))
    try:
        status = json.loads(output)["status"]
        expiry = status.get("expirationTimestamp")
        expires = datetime.fromisoformat(expiry) if expiry else None
        completed = replace(
            login,
            token=status.get("token") or login.token,
            certificate_data=status.get("clientCertificateData") or login.certificate_data,
            key_data=status.get("clientKeyData") or login.key_data,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CredentialsError(
            f"`{plugin.command}` printed no ExecCredential with a status"
        ) from None
    return Issued(completed, expires)


async def _output_of(plugin: ExecPlugin, environ: Mapping[str, str], info: str) -> bytes:
    command = plugin.command
    if "/" in command:
        command = str(plugin.directory / command)
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *plugin.args,
            env={**environ, **plugin.environment, "KUBERNETES_EXEC_INFO": info},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as failure:
        raise CredentialsError(
            f"could not start the credential plugin `{plugin.command}`: {failure.strerror}",
            hint=plugin.install_hint.strip() or f"install `{Path(plugin.command).name}`",
        ) from failure
    except ValueError as failure:  # what no program can be given: a NUL, a name with `=`
        raise CredentialsError(
            f"could not start the credential plugin `{plugin.command}`: {failure}",
            hint="correct `command`, `args` and `env` of its `exec` in the kubeconfig",
        ) from None
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            output, complaint = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise CredentialsError(
            f"the credential plugin `{plugin.command}` did not end within {TIME_LIMIT_S:.0f} s"
        ) from None
    if process.returncode != 0:
        said = complaint.decode(errors="replace").strip()[:_SHOWN_CHARACTERS]
        raise CredentialsError(
            f"the credential plugin `{plugin.command}` ended with {process.returncode}: {said}"
        )
    return output


def _exec_info(plugin: ExecPlugin, login: Login) -> str:
    spec: dict[str, Any] = {"interactive": False}
    if plugin.provide_cluster:
        cluster: dict[str, Any] = {"server": login.server}
        if login.tls_server_name:
            cluster["tls-server-name"] = login.tls_server_name
        if login.insecure:
            cluster["insecure-skip-tls-verify"] = True
        authority = login.ca_data or (login.ca_file.read_text() if login.ca_file else "")
        if authority:
            encoded = base64.b64encode(authority.encode()).decode()
            cluster["certificate-authority-data"] = encoded
        spec["cluster"] = cluster
    return json.dumps({"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec})
