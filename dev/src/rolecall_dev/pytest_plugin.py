"""The pytest plugin: fixtures for tests of operators on a real control plane (docs/guides/testing.md).

    cluster                      one for all tests, started when the first test asks for it
    namespace                    a fresh namespace, named after the test
    engine                       the project of the current folder at work, one for all tests
    apply                        creates what a file or a dict describes, in the test's namespace
    dependents                   finds what a custom resource owns
    eventually                   waits until a condition holds; shows the last value if it never does
    service_account_kubeconfig   makes a kubeconfig for a ServiceAccount with these rules only
    binaries                     the programs, for tests that start clusters in other ways
    own_cluster                  one for this test alone, with relays: to stop, freeze, slow, cut
    disturbed_cluster            the same for a module, whose tests each leave it whole

Tests that share `cluster` stay in their namespace, and leave its components alone. Nothing is imported
before a test asks for a fixture: every run of pytest in this environment loads this module.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from rolecall_dev.localcluster import Binaries, Cluster
    from rolecall_dev.testing import ProjectEngine

RbacRule = dict[str, Any]
ServiceAccountKubeconfig = Callable[..., Path]
Apply = Callable[[str | Path | Mapping[str, Any]], Any]
Dependents = Callable[[Mapping[str, Any]], dict[str, str]]
Eventually = Callable[..., Any]

_RBAC = "rbac.authorization.k8s.io"
_TIMEOUT_S = 60.0
_LAST_LINES = 5
_LONGEST_LINE = 400
# Each task of a play is a line of the log: these say what fails only together with the line of the run.
_OF_TASKS = "[playbook task "


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The programs of a control plane; without them there is nothing to test against."""
    from rolecall_dev.localcluster import MissingProgramsError, find_binaries  # noqa: PLC0415

    try:
        return find_binaries().require()
    except MissingProgramsError as error:
        skip_or_fail(str(error))


@pytest.fixture(scope="session")
def cluster(binaries: Binaries) -> Iterator[Cluster]:
    """A whole control plane, shared by all tests of this run."""
    from rolecall_dev.localcluster import Wanted, sweep, temporary_cluster  # noqa: PLC0415

    sweep()
    with temporary_cluster(Wanted(name=unique_name()), binaries) as cluster:
        yield cluster


@pytest.fixture
def own_cluster(binaries: Binaries) -> Iterator[Cluster]:
    """A control plane that this test alone may break; clients dial it through a relay."""
    yield from _cluster_with_relays(binaries)


@pytest.fixture(scope="module")
def disturbed_cluster(binaries: Binaries) -> Iterator[Cluster]:
    """The same for all tests of a module: each leaves it whole."""
    yield from _cluster_with_relays(binaries)


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty namespace; it is deleted afterwards, without waiting for the end of that."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())
    name = f"{words.strip('-')[:50].strip('-')}-{secrets.token_hex(3)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    cluster.api.create("/api/v1/namespaces", body)
    yield name
    cluster.api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def project_engine(cluster: Cluster, pytestconfig: pytest.Config) -> Iterator[ProjectEngine]:
    """The engine of all tests; ask for `engine`, which shows its log when a test fails."""
    from rolecall_dev.testing import ProjectEngine  # noqa: PLC0415

    here = (Path.cwd(), pytestconfig.rootpath)
    project = next((folder for folder in here if (folder / "watches.yaml").is_file()), None)
    if project is None:
        pytest.fail(
            f"{here[0]} does not have a watches.yaml; run pytest in the project's folder",
            pytrace=False,
        )
    with ProjectEngine(project, cluster) as engine:
        yield engine


@pytest.fixture
def engine(project_engine: ProjectEngine) -> Iterator[ProjectEngine]:
    """The operator of the current folder, with its real roles; it watches all namespaces."""
    before = len(project_engine.log)
    yield project_engine
    log = project_engine.log[before:]
    print(f"--- log of the operator during the test\n{log}")  # noqa: T201 - shown when it fails


@pytest.fixture
def apply(cluster: Cluster, namespace: str, pytestconfig: pytest.Config) -> Apply:
    """A function: `apply("config/samples/x.yaml")`, or a dict; the object as it was created.

    Objects go to the test's namespace unless they name another one. Of several, a list is returned.
    """

    def apply(what: str | Path | Mapping[str, Any]) -> Any:
        if isinstance(what, Mapping):
            text = json.dumps(what)
        else:
            text = (pytestconfig.rootpath / what).read_text()
        words = ("apply", "--namespace", namespace, "-f", "-", "-o", "json")
        found = json.loads(cluster.kubectl(*words, stdin=text))
        return found["items"] if found["kind"] == "List" else found

    return apply


@pytest.fixture
def dependents(cluster: Cluster) -> Dependents:
    """A function: `dependents(cr)` returns the UIDs of objects that the CR owns, by kubectl names.

    Such as `{"Deployment.v1.apps/shop": "2b1f..."}`: objects in the CR's namespace, without
    PersistentVolumeClaims, whose deletion would lose data.
    """
    columns = (
        "A:.apiVersion,K:.kind,N:.metadata.name,U:.metadata.uid,O:.metadata.ownerReferences[*].uid"
    )

    def dependents(cr: Mapping[str, Any]) -> dict[str, str]:
        listed = ("api-resources", "--namespaced", "--verbs=list,delete", "--output=name")
        kinds = ",".join(cluster.kubectl(*listed).split())
        where = ("--namespace", cr["metadata"]["namespace"], "--no-headers")
        rows = cluster.kubectl("get", kinds, *where, f"--output=custom-columns={columns}")
        found = {}
        for api_version, kind, name, uid, owners in map(str.split, rows.splitlines()):
            if cr["metadata"]["uid"] in owners.split(",") and kind != "PersistentVolumeClaim":
                group, _, version = api_version.rpartition("/")
                found[f"{kind}.{version}.{group}/{name}"] = uid
        return found

    return dependents


@pytest.fixture
def eventually(request: pytest.FixtureRequest) -> Eventually:
    """A function: `eventually(look, is_right)` calls `look` until its value is right, and returns it.

    It fails after `timeout_s` seconds, with the last value, and with the end of the operator's log if
    the test uses `engine`. By default any value that is true is right; exceptions mean "not yet".
    """
    from rolecall.errors import RolecallError  # noqa: PLC0415
    from rolecall_dev.testing import NeverCameError  # noqa: PLC0415
    from rolecall_dev.testing import eventually as wait  # noqa: PLC0415

    not_yet = (AssertionError, LookupError, RolecallError)
    has_engine = "engine" in request.fixturenames

    def eventually(
        look: Callable[[], Any],
        is_right: Callable[[Any], object] = bool,
        *,
        timeout_s: float = _TIMEOUT_S,
    ) -> Any:
        __tracebackhide__ = True  # the test's line is where it failed
        try:
            return wait(look, is_right, timeout_s=timeout_s, ignoring=not_yet)
        except NeverCameError as error:
            message = str(error)
        if has_engine:
            message += (
                f"\nthe operator's log ends with:\n{_end_of(request.getfixturevalue('engine'))}"
            )
        pytest.fail(message)

    return eventually


@pytest.fixture
def service_account_kubeconfig(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> Iterator[ServiceAccountKubeconfig]:
    """A factory: `make(rules, cluster_rules=(), name="engine")` returns a kubeconfig's path.

    `rules` hold in the test's namespace, `cluster_rules` everywhere; both are as in a Role.
    """
    from rolecall_dev.localcluster import ClusterAccess, write_kubeconfig  # noqa: PLC0415

    with ExitStack() as undo:

        def make(
            rules: Sequence[RbacRule] = (),
            cluster_rules: Sequence[RbacRule] = (),
            name: str = "engine",
        ) -> Path:
            accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
            cluster.api.create(accounts, {"metadata": {"name": name}})
            subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
            grant(cluster, f"/namespaces/{namespace}", "Role", name, (rules, subject))
            wide_name = f"{namespace}-{name}"
            grant(cluster, "", "ClusterRole", wide_name, (cluster_rules, subject))
            for kind in ("clusterrolebindings", "clusterroles"):
                undo.callback(cluster.api.delete, f"/apis/{_RBAC}/v1/{kind}/{wide_name}")
            token = cluster.api.create(f"{accounts}/{name}/token", {"spec": {}})["status"]["token"]
            authority = cluster.layout.certificates / "ca.crt"
            access = ClusterAccess(cluster.url, authority, token=token, namespace=namespace)
            return write_kubeconfig(tmp_path / f"{name}.kubeconfig", access)

        yield make


def grant(
    cluster: Cluster,
    scope: str,
    kind: str,
    name: str,
    what: tuple[Sequence[RbacRule], dict[str, str]],
) -> None:
    """Create a Role or ClusterRole with its binding; nothing when there are no rules."""
    rules, subject = what
    if not rules:
        return
    base = f"/apis/{_RBAC}/v1{scope}/{kind.lower()}"
    cluster.api.create(f"{base}s", {"metadata": {"name": name}, "rules": list(rules)})
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
        "subjects": [subject],
    }
    cluster.api.create(f"{base}bindings", binding)


def unique_name() -> str:
    """For a cluster of this run."""
    return f"test-{os.getpid()}-{secrets.token_hex(2)}"


def skip_or_fail(reason: str) -> NoReturn:
    """Skip with the way out; with REQUIRE_ALL, as in CI, a skip would hide that nothing was tested."""
    if os.environ.get("REQUIRE_ALL"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _end_of(engine: ProjectEngine) -> str:
    lines = [line for line in engine.log.splitlines() if _OF_TASKS not in line]
    return "\n".join(line[:_LONGEST_LINE] for line in lines[-_LAST_LINES:])


def _cluster_with_relays(binaries: Binaries) -> Iterator[Cluster]:
    from rolecall_dev.localcluster import Wanted, temporary_cluster  # noqa: PLC0415

    with temporary_cluster(Wanted(name=unique_name(), relays=True), binaries) as cluster:
        yield cluster
