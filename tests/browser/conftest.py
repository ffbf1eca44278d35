"""Fixtures of this tier: a browser, and an engine with a page that it looks at.

The browser is driven without asyncio, and lasts for the whole folder: so no test and no fixture here
may be a coroutine.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright
from tools.browser_ready import browser as program
from tools.browser_ready import what_is_missing

from rolecall.gvk import Gvk
from rolecall_dev.localcluster import Cluster
from tests.browser.looking import GROUP, Looking, Town, look
from tests.browser.seeded_world import SeededWorld
from tests.browser.served_worlds import TOKEN, ServedWorld, served_world
from tests.browser.worlds import world
from tests.e2e.engine import EngineProcess
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually
from tests.fixtures.lacking import skip_or_fail

# `tools.ready` sets it where no browser can be installed; elsewhere the last lines name the reason.
_IS_LEFT_OUT = os.environ.get("WITHOUT_BROWSER") or (
    what_is_missing() and not os.environ.get("REQUIRE_ALL")
)
collect_ignore_glob = ["test_*.py"] if _IS_LEFT_OUT else []

PROJECT = Path(__file__).parent / "project"
NewReader = Callable[..., Looking]
NewEngine = Callable[..., EngineProcess]
Serve = Callable[..., ServedWorld]
NewVisitor = Callable[..., Looking]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Debian's, without a window."""
    if lack := what_is_missing():
        skip_or_fail(lack)
    with sync_playwright() as playwright:
        # Without its sandbox: root may not have it, and what it shows is ours.
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program(), args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def serve(chromium: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A factory: `serve("busy")` is the page of that world; `is_local=False`: its users log in.

    Each world is made once for all tests, which leave it as it is.
    """
    made: dict[str, SeededWorld] = {}
    serving: dict[tuple[str, bool], ServedWorld] = {}
    with ExitStack() as ending:

        def serve(name: str, *, is_local: bool = True) -> ServedWorld:
            if name not in made:
                made[name] = world(name, tmp_path_factory.mktemp(name))
            if (name, is_local) not in serving:
                page = served_world(made[name], is_local=is_local)
                serving[name, is_local] = ending.enter_context(page)
            return serving[name, is_local]

        yield serve


@pytest.fixture(scope="package")
def served_one(serve: Serve, request: pytest.FixtureRequest) -> ServedWorld:
    """The world that a test's parameter names; see `of_worlds`."""
    return serve(request.param)


def of_worlds(*names: str) -> pytest.MarkDecorator:
    """For a test with `served_one`. Of this scope, or its threads count as leaks of a test."""
    return pytest.mark.parametrize("served_one", names, indirect=True, scope="package")


@pytest.fixture(scope="package")
def many(serve: Serve) -> ServedWorld:
    return serve("many")


@pytest.fixture(scope="package")
def busy(serve: Serve) -> ServedWorld:
    return serve("busy")


@pytest.fixture(scope="package")
def busy_for_users(serve: Serve) -> ServedWorld:
    """The busy world, where users of the cluster log in."""
    return serve("busy", is_local=False)


@pytest.fixture
def new_visitor(new_reader: NewReader) -> NewVisitor:
    """A factory: `new_visitor(served_world, **options of playwright)`, who has entered."""

    def visit(served: ServedWorld, **options: Any) -> Looking:
        visitor = new_reader(served.port, **options)
        visitor.go(f"/?token={TOKEN}")
        return visitor

    return visit


@pytest.fixture
def visitor_in_time(busy: ServedWorld, new_visitor: NewVisitor) -> Looking:
    """On the overview of the busy world, in UTC and at the world's time; kept runs were read."""
    visitor = new_visitor(busy, timezone_id="UTC")
    visitor.page.clock.set_fixed_time(busy.world.clock.now())
    for _ in range(60):
        visitor.go("/")
        if visitor.page.get_by_text("still being read").count() == 0:
            return visitor
        visitor.page.wait_for_timeout(500)
    raise AssertionError("kept runs are still being read")


@pytest.fixture(scope="package")
def new_namespace(chromium: Browser, cluster: Cluster) -> Iterator[Callable[[], str]]:
    """A factory; the kind of this folder's project is there. No two engines share one."""
    api = cluster.api
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    api.create(definitions, crd_for(Gvk(GROUP, "v1", "Shop")))
    eventually(lambda: cluster.refusal("get", f"shops.{GROUP}") == "")
    with ExitStack() as ending:

        def make() -> str:
            name = f"town-{secrets.token_hex(3)}"
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            api.create("/api/v1/namespaces", body)
            ending.callback(api.delete, f"/api/v1/namespaces/{name}")
            return name

        yield make


@contextmanager
def engines(cluster: Cluster, folder: Path) -> Iterator[NewEngine]:
    """A factory: `new_engine(namespace, *flags)`; they end with the context."""
    with ExitStack() as ending:
        numbers = count()

        def start(namespace: str, *flags: str) -> EngineProcess:
            engine = EngineProcess(
                PROJECT,
                folder / f"engine-{next(numbers)}",
                kubeconfig=cluster.kubeconfig,
                flags=flags,
                environment={"WATCH_NAMESPACE": namespace},
            )
            ending.callback(engine.clean_up)
            return engine.wait_ready()

        yield start


@pytest.fixture(scope="package")
def new_engine(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewEngine]:
    """Of engines for several tests."""
    with engines(cluster, tmp_path_factory.mktemp("engines")) as factory:
        yield factory


@pytest.fixture
def passing_engine(cluster: Cluster, tmp_path: Path) -> Iterator[NewEngine]:
    """Of engines for one test."""
    with engines(cluster, tmp_path) as factory:
        yield factory


@pytest.fixture(scope="package")
def town(
    chromium: Browser,
    cluster: Cluster,
    new_namespace: Callable[[], str],
    new_engine: NewEngine,
) -> Town:
    """Its engine shows the page to users with the printed address."""
    namespace = new_namespace()
    engine = new_engine(namespace, "--page-bind-address=127.0.0.1:0", "--page-access=local")
    town = Town(cluster, namespace, engine)
    context, looking = look(chromium, town.port)
    page = looking.go(town.entrance())
    assert "token=" not in page.url
    town.session = context.storage_state()
    context.close()
    return town


@pytest.fixture
def new_reader(chromium: Browser) -> Iterator[NewReader]:
    """A factory: `new_reader(port, token=..., **options of playwright)`.

    Whatever a reader looked at: no script failed, none was refused, no other server was asked.
    """
    with ExitStack() as ending:
        readers = []

        def begin(port: int, **options: Any) -> Looking:
            context, looking = look(chromium, port, **options)
            ending.callback(context.close)
            readers.append(looking)
            return looking

        yield begin
        for each in readers:
            assert (each.complaints, each.foreign) == ([], [])


@pytest.fixture
def reader(town: Town, new_reader: NewReader) -> Looking:
    """Who has the printed address of `town`."""
    return new_reader(town.port, storage_state=town.session)
