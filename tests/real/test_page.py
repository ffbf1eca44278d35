"""The page of an operator in pods, for users with rights in one namespace."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import pytest

from tests.fixtures.eventually import eventually
from tests.real import images
from tests.real.operator import NAMESPACE, Operator
from tests.real.person import Person, person_with
from tests.real.world import PATIENCE_S, World, mapping

NAME = "looked-at"
ACCOUNT = "page-looker"


@pytest.fixture(scope="module", autouse=True)
def ready(operator: Operator, world: World) -> Iterator[None]:
    """A CR that ran, and an account that may look at it."""
    operator.wait_complete(images.FIRST)
    operator.wait_for_leader()
    world.apply(mapping(NAME))
    world.wait_ready("mapping", NAME)
    world.kubectl("create", "serviceaccount", ACCOUNT)
    who = f"--serviceaccount={world.namespace}:{ACCOUNT}"
    world.kubectl("create", "rolebinding", ACCOUNT, "--clusterrole=rolecall-page-reader", who)
    operator.kubectl("create", "rolebinding", ACCOUNT, "--role=rolecall-page-access", who)
    yield
    operator.kubectl("delete", "rolebinding", ACCOUNT)
    world.kubectl("delete", "mapping", NAME, "--ignore-not-found")


@contextmanager
def page(person: Person, *words: str) -> Iterator[tuple[str, urllib.request.OpenerDirector]]:
    """The address of the page, and a browser that was let in."""
    with subprocess.Popen(
        person.command("page", "--no-open", *words),
        env=person.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            address = process.stdout.readline().strip()
            assert address, process.stderr.read()
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            browser.open(address, timeout=PATIENCE_S).close()
            yield urljoin(address, "/"), browser
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()


def read(browser: urllib.request.OpenerDirector, address: str) -> str:
    with browser.open(address, timeout=PATIENCE_S) as answer:
        return str(answer.read().decode())


def assert_shows_its_run(
    where: str, browser: urllib.request.OpenerDirector, namespace: str
) -> None:
    objects = read(browser, f"{where}crs?kind=Mapping")
    assert f">Mapping {NAME}<" in objects
    assert set(re.findall(r'href="/cr/[^/"]+/[^/"]+/Mapping/([^/"]+)/', objects)) == {namespace}
    path = re.search(rf'href="/(cr/[^"]+/{NAME})"', objects)
    assert path is not None
    run = eventually(
        lambda: re.findall(r'href="/(cr/[^"]*/runs/\d+)"', read(browser, f"{where}{path[1]}"))
    )
    assert "PLAY RECAP" in read(browser, f"{where}{run[0]}/stdout")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        browser.open(f"{where}{path[1].replace(namespace, NAMESPACE)}", timeout=PATIENCE_S)


def test_token_of_ones_own_shows_the_runs_of_ones_namespace(
    operator: Operator, world: World, tmp_path: Path
) -> None:
    token = world.kubectl("create", "token", ACCOUNT).strip()
    person = person_with(token, operator, tmp_path)
    said = person.try_("page", "--no-open")
    assert (said.returncode, "would send your login" in said.stderr) == (2, True)
    with page(person, "--operator", f"{NAMESPACE}/rolecall") as (where, browser):
        assert_shows_its_run(where, browser, world.namespace)


def test_who_logs_in_with_a_certificate_looks_as_an_account(
    operator: Operator, world: World, tmp_path: Path
) -> None:
    person = Person(operator.cluster.kubeconfig, tmp_path)
    said = person.try_("page", "--no-open")
    assert (said.returncode, "--service-account NAMESPACE/NAME" in said.stderr) == (2, True)
    with page(person, "--service-account", f"{world.namespace}/{ACCOUNT}") as (where, browser):
        assert_shows_its_run(where, browser, world.namespace)
