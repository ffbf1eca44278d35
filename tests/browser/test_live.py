"""What changes while a user looks: nothing is missed, and nothing is shown twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from rolecall_dev.localcluster import Cluster
from tests.browser.conftest import NewEngine, NewReader
from tests.browser.looking import Looking, Town

ROWS = "tbody:not([aria-hidden]) tr:not(.opened)"


def test_run_that_is_looked_at_shows_each_task_once(
    town: Town, reader: Looking, tmp_path: Path
) -> None:
    delivery = tmp_path / "delivery"
    path = town.open("market", counted=20, delivery=str(delivery))
    page = reader.go(path)
    page.locator("#now a", has_text="wait for the delivery").click()
    waits = page.locator(f"#tasks {ROWS}", has_text="wait for the delivery")
    expect(waits).to_contain_text("running")
    delivery.touch()
    expect(page.locator("#run-facts")).to_contain_text("succeeded", timeout=60_000)
    expect(page.locator(f"#tasks {ROWS}", has_text="check the till")).to_contain_text("ok")
    names = page.locator(f"#tasks {ROWS} th a").all_inner_texts()
    assert len(names) == len(set(names)) == 6
    reader.picture("run-that-ended")


def test_overview_follows_churn(town: Town, reader: Looking) -> None:
    """Forty objects come, change and go while one looks; in the end it shows what there is."""
    page = reader.go("/crs?name=stall-")
    expect(page.locator("#found")).to_have_text("0 objects")
    for number in range(40):
        town.open(f"stall-{number:02}")
    expect(page.locator("#found")).to_have_text("40 objects", timeout=60_000)
    for number in range(20):
        town.cluster.kubectl(
            "delete", "shop", f"stall-{number:02}", "-n", town.namespace, "--wait=false"
        )
    expect(page.locator("#found")).to_have_text("20 objects", timeout=60_000)
    rows = page.locator(f"#results {ROWS}")
    expect(rows).to_have_count(20)
    assert len(set(rows.locator("th").all_inner_texts())) == 20
    expect(rows.locator(".badge.good")).to_have_count(20, timeout=120_000)


def test_page_follows_again_after_the_engine_came_back(
    cluster: Cluster,
    new_namespace: Callable[[], str],
    passing_engine: NewEngine,
    new_reader: NewReader,
) -> None:
    """With a token in each request, as `rolecall page` sends it, no user has to log in again."""
    namespace = new_namespace()
    first = passing_engine(namespace, "--page-bind-address=127.0.0.1:0")
    port = first.ports["page"]
    cluster.kubectl("create", "serviceaccount", "patient", "-n", namespace)
    may_see = f"--serviceaccount={namespace}:patient"
    cluster.kubectl(
        "create", "clusterrolebinding", "patient", "--clusterrole=cluster-admin", may_see
    )
    token = cluster.kubectl("create", "token", "patient", "-n", namespace).strip()
    reader = new_reader(port, token=token)
    page = reader.go("/crs?name=late")
    expect(page.locator("#found")).to_have_text("0 objects")
    first.stop()
    expect(page.locator("#live")).to_contain_text("tries again")
    second = passing_engine(namespace, f"--page-bind-address=127.0.0.1:{port}")
    Town(cluster, namespace, second).open("late")
    expect(page.locator("#found")).to_have_text("1 object", timeout=60_000)
    expect(page.locator("#live")).to_have_text(re.compile(r"^$"))
    cluster.kubectl("delete", "clusterrolebinding", "patient")
