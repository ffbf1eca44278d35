"""The little of the Kubernetes API that these modules need, on the plain client.

The dynamic client would read every group of the server first; one discovery document of the one
group that is asked for is enough here, and costs a millisecond.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from ansible.module_utils.basic import missing_required_lib

try:
    from kubernetes import client as k8s_client
    from kubernetes import config as k8s_config
    from urllib3.exceptions import HTTPError
    from urllib3.util import make_headers

    IMPORT_ERROR = None
except ImportError as error:  # pragma: no cover - the engine always ships the client
    IMPORT_ERROR = error

# option -> (aliases, name of the option in the client's Configuration, type)
_OPTIONS = {
    "kubeconfig": ([], "", "path"),
    "context": ([], "", "str"),
    "host": ([], "host", "str"),
    "api_key": ([], "", "str"),
    "username": ([], "username", "str"),
    "password": ([], "password", "str"),
    "validate_certs": (["verify_ssl"], "verify_ssl", "bool"),
    "ca_cert": (["ssl_ca_cert"], "ssl_ca_cert", "path"),
    "client_cert": (["cert_file"], "cert_file", "path"),
    "client_key": (["key_file"], "key_file", "path"),
    "proxy": ([], "proxy", "str"),
    "persist_config": ([], "", "bool"),
}
TIMEOUT_S = 60  # longer than any read here; a stuck server must not hold a play for ever

_SECRET = {"api_key", "password"}
_FALSE = {"0", "false", "no"}

AUTH_ARGUMENTS = {
    name: {"type": kind, "aliases": aliases, "no_log": name in _SECRET}
    for name, (aliases, _client_name, kind) in _OPTIONS.items()
}


class ApiError(Exception):
    """The server said no: status code, reason, and the message of its Status object."""

    def __init__(self, status, reason, body):
        super().__init__(f"{status} {reason}: {message_of(body)}")
        self.status = status
        self.reason = reason
        self.body = body

    def facts(self):
        """What the modules return as `error`."""
        return {"status": self.status, "reason": self.reason, "body": self.body}


def message_of(body):
    """The `message` of a Status object, or the text itself."""
    try:
        return json.loads(body)["message"]
    except (TypeError, ValueError, KeyError):
        return body


@dataclass
class Resource:
    """Where the objects of one kind live."""

    base: str
    plural: str
    namespaced: bool
    has_status: bool

    def path(self, namespace, name="", subresource=""):
        """The URL path of the kind, of one object, or of its subresource."""
        parts = [self.base]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join(parts)


class Api:
    """A connection to one API server.

    It takes the client's connection pool and speaks HTTP itself: the generated layers in between change
    their signatures from one release to the next, the pool does not.
    """

    def __init__(self, configuration, authorization):
        self._pool = k8s_client.ApiClient(configuration).rest_client.pool_manager
        self._server = configuration.host.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if authorization:
            self._headers["Authorization"] = authorization

    def request(self, method, path, body=None, content_type="application/json"):
        """Send one request and return the decoded answer; `ApiError` on a refusal."""
        try:
            answer = self._pool.request(
                method,
                self._server + path,
                body=None if body is None else json.dumps(body),
                headers={**self._headers, "Content-Type": content_type},
                timeout=TIMEOUT_S,
            )
        except HTTPError as error:
            raise ApiError(0, "Unreachable", f"could not reach the API server: {error}") from error
        if answer.status >= 400:
            raise ApiError(answer.status, answer.reason, answer.data.decode(errors="replace"))
        return json.loads(answer.data)

    def find_resource(self, api_version, kind):
        """The resource of a kind (or plural, singular or short name), or None."""
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            rows = self.request("GET", base)["resources"]
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        resources = [row for row in rows if "/" not in row["name"]]
        for matches in (
            lambda row: row["kind"] == kind,
            lambda row: row["name"] == kind,
            lambda row: row.get("singularName") == kind,
            lambda row: kind in row.get("shortNames", []),
        ):
            for row in resources:
                if matches(row):
                    names = {other["name"] for other in rows}
                    return Resource(
                        base, row["name"], row["namespaced"], f"{row['name']}/status" in names
                    )
        return None


def connect(module):
    """A connection as the module's options and the environment say; fails the module otherwise."""
    if IMPORT_ERROR is not None:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=str(IMPORT_ERROR))
    wanted = {name: _wanted(module, name) for name in _OPTIONS}
    try:
        configuration = _configuration(wanted)
    except (k8s_config.ConfigException, OSError, ValueError) as error:
        module.fail_json(msg=f"Failed to load kubeconfig: {error}")
    return Api(configuration, _authorization(configuration, wanted))


def _wanted(module, name):
    """An option's value: the task's, then `K8S_AUTH_<OPTION>`, then `K8S_AUTH_<CLIENT NAME>`."""
    if module.params.get(name) is not None:
        return module.params[name]
    client_name = _OPTIONS[name][1]
    for candidate in (name, client_name):
        value = os.environ.get(f"K8S_AUTH_{candidate.upper()}") if candidate else None
        if value is not None:
            return value.lower() not in _FALSE if _OPTIONS[name][2] == "bool" else value
    return None


def _configuration(wanted):
    configuration = k8s_client.Configuration()
    has_login = wanted["api_key"] or (wanted["username"] and wanted["password"])
    if not (wanted["host"] and has_login):
        _load(wanted, configuration)
    for name, (_aliases, client_name, _kind) in _OPTIONS.items():
        if client_name and wanted[name] is not None:
            setattr(configuration, client_name, wanted[name])
    return configuration


def _authorization(configuration, wanted):
    if wanted["api_key"]:
        return f"Bearer {wanted['api_key']}"
    if wanted["username"] and wanted["password"]:
        return make_headers(basic_auth=f"{wanted['username']}:{wanted['password']}")["authorization"]
    return configuration.auth_settings().get("BearerToken", {}).get("value")


def _load(wanted, configuration):
    if not (wanted["kubeconfig"] or wanted["context"]):
        try:
            k8s_config.load_incluster_config(configuration)
            return
        except k8s_config.ConfigException:
            pass  # not in a pod: the default kubeconfig is next
    k8s_config.load_kube_config(
        config_file=wanted["kubeconfig"],
        context=wanted["context"],
        client_configuration=configuration,
        persist_config=bool(wanted["persist_config"]),
    )
