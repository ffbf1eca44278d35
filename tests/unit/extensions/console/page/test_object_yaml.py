"""The live YAML of what belongs to a CR, with who wrote each line, for readers who may see it."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.extensions.console.page.cluster import FakeClient
from tests.unit.extensions.console.page.live_objects import (
    PLACE,
    OneGroup,
    deployment,
    keep_run,
    owned,
    request,
)
from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.serving import Answer, Shown, place, shown

from rolecall.json_object import Json

GET, LOG = ("get", "websites", "shop"), ("get", "websites/log", "shop")
DEPLOYMENTS, SECRETS = ("get", "deployments", "shop"), ("get", "secrets", "shop")
WEB = "/objects/apps/v1/deployments/shop/web"


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shown]:
    monkeypatch.setattr(FakeClient, "discovery", OneGroup(), raising=False)
    async with shown(tmp_path) as page:
        page.has("blog", "other")
        page.cluster.objects["Deployment", "shop", "web"] = deployment(by="me")
        page.cluster.knows("operator", GET, LOG, DEPLOYMENTS, SECRETS)
        page.cluster.knows("looker", GET, DEPLOYMENTS)
        page.cluster.knows("poor", GET, LOG)
        page.cluster.knows("elsewhere", LOG, DEPLOYMENTS)
        keep_run(page)
        yield page


async def yaml(page: Shown, path: str = WEB, user: str = "operator", cr: str = "blog") -> Answer:
    return await page.asks(place(cr) + path, token=f"token-of-{user}")


def written(html: str) -> list[tuple[str, str]]:
    """Groups of lines, each with its writer."""
    found = re.findall(r"<li>\s*<pre[^>]*>(.*?)</pre>\s*<p>(.*?)</p>", html, re.DOTALL)
    return [(lines, " ".join(re.sub(r"<[^>]+>", " ", by).split())) for lines, by in found]


async def test_each_line_says_who_wrote_it(page: Shown) -> None:
    answer = await yaml(page)
    groups = written(answer.text)
    assert ("spec:\n  replicas: 3", f"Written by {PLACE} run the web server") in [
        (lines, by.partition(" 2026")[0]) for lines, by in groups
    ]
    assert any("  by: me" in lines and "kubectl-edit (Update)" in by for lines, by in groups)
    assert "managedFields" not in answer.text
    assert groups[0][0].startswith("apiVersion: apps/v1\nkind: Deployment")
    task = re.findall(r'href="([^"]+/task-ids/uuid-1)"', answer.text)
    assert len(set(task)) == 1
    assert (await page.asks(task[0], token="token-of-operator")).headers["Location"] == (
        f"{place('blog')}/runs/7"
    )


async def test_lines_of_tasks_alone_can_be_asked_for(page: Shown) -> None:
    groups = written((await yaml(page, f"{WEB}?only=tasks")).text)
    assert [lines for lines, _ in groups] == ["spec:\n  replicas: 3"]


async def test_reader_without_the_log_right_sees_managers_alone(page: Shown) -> None:
    for path in (WEB, f"{WEB}?only=tasks"):
        answer = await yaml(page, path, "looker")
        assert answer.code == 200
        assert not re.search("run the web server|tasks/main|/runs/|only=tasks", answer.text)
        assert any("OpenAPI-Generator (Update)" in by for _, by in written(answer.text))


async def test_what_is_not_the_crs_is_answered_like_what_is_not_there(page: Shown) -> None:
    page.cluster.objects["Deployment", "shop", "foreign"] = owned("Deployment", "foreign", by="x")
    asked = [
        (WEB.replace("web", "gone"), "operator"),
        (WEB.replace("web", "foreign"), "operator"),
        (WEB, "poor"),
        (WEB.replace("/shop/", "/bank/"), "operator"),
        (WEB.replace("/shop/", "/-/"), "operator"),
        (WEB.replace("web", "..%2Fx"), "operator"),
        (WEB.replace("apps/v1", "..%2F../v1"), "operator"),
        ("/objects/demo.example.com/v1/Website/shop/other", "operator"),
    ]
    answers = [await yaml(page, *each) for each in asked]
    assert {answer.code for answer in answers} == {404}
    assert len({answer.text.partition("<main")[2] for answer in answers}) == 1
    assert (await yaml(page, cr="other")).code == 404
    assert (await yaml(page, user="elsewhere")).code == 404


async def test_cr_itself_is_shown_by_its_kind_or_plural(page: Shown) -> None:
    for kind in ("Website", "websites"):
        answer = await yaml(page, f"/objects/demo.example.com/v1/{kind}/shop/blog")
        assert "name: blog" in answer.text
    link = f'href="{place("blog")}/objects/demo.example.com/v1/Website/shop/blog"'
    assert link in (await page.asks(place("blog"), token="token-of-looker")).text


async def test_values_of_secrets_are_masked(page: Shown) -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "HIDDEN-TEXT"}
    secret = owned("Secret", "login", apiVersion="v1", data={"password": "SElEREVO"})
    del secret["kind"], secret["apiVersion"]  # as in a list
    secret["metadata"]["annotations"] = applied
    page.cluster.objects["Secret", "shop", "login"] = secret
    answer = await yaml(page, "/objects/core/v1/secrets/shop/login")
    assert "password: &#34;***&#34;" in answer.text
    assert not re.search("SElEREVO|HIDDEN", answer.text)


HOSTILE = "</pre><script>alert(1)</script>\u202e\x1b[31m"


@pytest.mark.parametrize(
    "spec",
    [
        {HOSTILE: HOSTILE},
        {"a": [[[HOSTILE]], {}, [], None, 1.5, True]},
        {"long": "x\ny" * 1_000_000},
        {"x" * 100_000: 1},
    ],
)
async def test_hostile_yaml_is_text(page: Shown, spec: Json) -> None:
    page.cluster.objects["Deployment", "shop", "web"] = deployment(**spec)
    answer = await yaml(page)
    assert (answer.code, Seen(answer.text).harm) == (200, [])
    assert len(answer.text) < 100_000


async def test_object_that_is_nested_too_deeply_is_refused_in_words(page: Shown) -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    page.cluster.objects["Deployment", "shop", "web"] = deployment(deep=deep)
    answer = await yaml(page)
    assert answer.code == 422 and "nested too deeply" in answer.text


async def test_object_of_megabytes_is_cut_and_takes_no_minute(page: Shown) -> None:
    rows = [{"name": f"row-{number}", "value": "x" * 40} for number in range(20_000)]
    found = deployment(rows=rows)
    keys: Json = {f'k:{{"name":"row-{number}"}}': {"f:value": {}} for number in range(20_000)}
    found["metadata"]["managedFields"][1]["fieldsV1"]["f:spec"] = {"f:rows": keys}
    page.cluster.objects["Deployment", "shop", "web"] = found
    began = time.monotonic()
    answer = await yaml(page)
    assert time.monotonic() - began < 10
    assert len(answer.text) < 1_000_000
    assert "There are 38,010 more" in answer.text


async def test_records_that_are_missing_are_reported(page: Shown) -> None:
    page.world.keep("blog", run="8", outcome="failed")
    keep_run(page, request(".spec.replicas", uid="another"), run="9")
    assert "1 of 3 kept runs have no record" in (await yaml(page)).text
