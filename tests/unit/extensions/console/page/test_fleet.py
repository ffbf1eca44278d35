"""The list of objects as a reader gets it: its state is in the address, and its numbers are his own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from time import perf_counter

import pytest
from tests.unit.extensions.console.control.engine import Known, key
from tests.unit.extensions.console.page.serving import ALL, Shown, shown

ANNA, BERT, CARL = "token-of-anna", "token-of-bert", "token-of-carl"
_GROUP = re.compile(r'<tr><th scope="row"><a href="([^"]+)"[^>]*>([^<]*)</a></th>(.*?)</tr>', re.S)
_NUMBER = re.compile(r'<a href="([^"]+)"[^>]*>([0-9,]+)</a>')


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    """`anna` may do all; `bert` reads lists; `carl` lists shop alone, with its log."""
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL)
        page.cluster.knows("bert", ("list", "websites", "*"))
        page.cluster.knows("carl", ("list", "websites", "shop"), ("get", "websites/log", "shop"))
        page.has("web-0001", "web-0002", "web-0003", "good")
        page.has("theirs", namespace="bank")
        for number, name in enumerate(("web-0001", "web-0002"), 1):
            reason = f"SECRET: {name}-x{number} is full"
            page.world.keep(name, outcome="failed", reason=reason, seconds=10.0 * number)
        page.world.keep("good", outcome="succeeded", seconds=5.0, cause="edit")
        page.world.known[key("web-0003")] = Known(is_paused=True)
        labels = {"web-0001": "web", "web-0002": "db"}
        for name, value in labels.items():
            metadata = page.cluster.objects["Website", "shop", name]["metadata"]
            metadata["labels"] = {"app": value}
        yield page


async def text_of(page: Shown, path: str, token: str = ANNA) -> str:
    answer = await page.asks(path, token=token)
    assert answer.code == 200, answer.text
    return answer.text


def names(text: str) -> list[str]:
    return [part.partition("<")[0] for part in text.split('">Website ')[1:]]


async def test_failed_objects_are_first_and_heads_lead_to_other_orders(page: Shown) -> None:
    text = await text_of(page, "/crs")
    assert names(text) == ["web-0001", "web-0002", "good", "theirs", "web-0003"]
    assert "aria-sort" not in text and 'href="/crs?sort=-took"' in text
    text = await text_of(page, "/crs?sort=-took")
    assert names(text) == ["web-0002", "web-0001", "good", "theirs", "web-0003"]
    assert '<th scope="col" aria-sort="descending"><a href="/crs?sort=took"' in text
    assert names(await text_of(page, "/crs?sort=-took&fragment=1")) == names(text)


async def test_filter_is_a_chip_whose_link_removes_it(page: Shown) -> None:
    text = await text_of(page, "/crs?state=failed&name=web&sort=name&reason=full")
    assert names(text) == ["web-0001", "web-0002"]
    assert 'href="/crs?state=failed&amp;reason=full&amp;sort=name" class="chip"' in text
    assert 'aria-label="Remove name: web"' in text


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("kind=Nothing", "of the kind “Nothing”"),
        ("namespace=nowhere&name=web", "in the namespace “nowhere”"),
        ("state=%3Cb%3E", "in the state “&lt;b&gt;”"),
        ("label=app%3Dnone", "has the label “app=none”"),
        ("reason=none&state=failed", "has “none” in its reason"),
        ("cause=none", "has “none” in its cause"),
        ("name=good&state=paused", "no object is found by all of them"),
        ("group=kind&name=none", "has “none” in its name"),
    ],
)
async def test_empty_list_says_which_filter_finds_nothing(
    page: Shown, query: str, sentence: str
) -> None:
    text = await text_of(page, f"/crs?{query}")
    assert sentence in text and names(text) == []


@pytest.mark.parametrize("group", ["kind", "namespace", "state", "reason", "label:app"])
@pytest.mark.parametrize("token", [ANNA, BERT, CARL])
async def test_each_number_of_a_group_is_that_of_the_list_it_leads_to(
    page: Shown, group: str, token: str
) -> None:
    text = await text_of(page, f"/crs?group={group}", token)
    total, groups = int(re.findall(r"([0-9]+) objects? in", text)[0]), _GROUP.findall(text)
    assert groups
    seen = 0
    for _, _, cells in groups:
        numbers = _NUMBER.findall(cells)
        seen += int(numbers[0][1])
        for link, number in numbers:
            answer = await page.asks(f"{unescape(link)}&fragment=1", token=token)
            assert answer.headers["X-Total"] == number
    assert seen == total == (4 if token == CARL else 5)


async def test_reasons_are_one_group_where_only_names_differ(page: Shown) -> None:
    text = await text_of(page, "/crs?group=reason")
    assert [name for _, name, _ in _GROUP.findall(text)] == [
        "SECRET: … is full",
        "no failure",
    ]


async def test_reader_without_the_log_right_sees_no_reasons(page: Shown) -> None:
    for path in ("/crs?group=reason", "/crs?group=reason&fragment=1", "/crs?reason=SECRET"):
        text = await text_of(page, path, BERT)
        assert "is full" not in text
    assert [
        name for _, name, _ in _GROUP.findall(await text_of(page, "/crs?group=reason", BERT))
    ] == ["not shown to you"]
    for query in ("reason=full", "cause=edit", "same=%3D", "same=%3DSECRET%3A+%E2%80%A6+is+full"):
        assert (await page.asks(f"/crs?fragment=1&{query}", token=BERT)).headers["X-Total"] == "0"


async def test_groups_are_of_what_the_reader_may_list(page: Shown) -> None:
    text = await text_of(page, "/crs?group=namespace", CARL)
    assert "bank" not in text and "4 objects in 1 group" in text


@pytest.mark.parametrize("path", ["/crs?group=label:app", "/crs?label=app%3Dweb"])
async def test_label_that_changed_moves_its_object_while_one_looks(page: Shown, path: str) -> None:
    """The script asks again, as no event says so; what is asked for within seconds is not read anew."""
    assert 'data-every="10"' in await text_of(page, path)
    metadata = page.cluster.objects["Website", "shop", "good"]["metadata"]
    before = await text_of(page, f"{path}&fragment=1")
    metadata["labels"] = {"app": "web"}
    assert await text_of(page, f"{path}&fragment=1") == before
    page.clock.step(10)
    now = await text_of(page, f"{path}&fragment=1")
    if "group" in path:
        assert ['<a href="/crs?label=app%3Dweb">2</a>' in each for each in (before, now)] == [
            False,
            True,
        ]
    else:
        assert [names(each) for each in (before, now)] == [["web-0001"], ["web-0001", "good"]]


async def test_cluster_that_does_not_answer_takes_nothing_from_what_is_seen(page: Shown) -> None:
    page.cluster.knows("bert", ("list", "websites", "*"))
    await text_of(page, "/crs?group=label:app", BERT)
    page.cluster.rules["bert"].clear()  # the reviews are still known
    page.clock.step(10)
    for path in ("/crs?group=label:app", "/crs?group=kind&label=app", "/crs?label=app"):
        answer = await page.asks(f"{path}&fragment=1", token=BERT)
        assert answer.code == 502 and "<" not in answer.text
        assert "The cluster does not find this label" in await text_of(page, path, BERT)


async def test_form_asks_for_the_groups_of_a_label(page: Shown) -> None:
    text = await text_of(page, "/crs?group=label&key=app")
    assert {name for _, name, _ in _GROUP.findall(text)} == {"web", "db", "without app"}
    for query in ("group=label&key=%21a", "group=bogus", "group=label"):
        assert len(names(await text_of(page, f"/crs?{query}"))) == 5


async def test_list_of_a_hundred_namespaces_takes_two_reviews_for_each(page: Shown) -> None:
    """Listed or not, and with its log or not; the answers serve for the next half minute."""
    page.cluster.knows("dora")
    for number in range(100):
        page.has("a", namespace=f"ns-{number}")
        page.cluster.rules["dora"].add(("list", "websites", f"ns-{number}"))
    page.cluster.asked.clear()
    assert "100 objects" in await text_of(page, "/crs", "token-of-dora")
    first = page.cluster.asked["SubjectAccessReview"]
    assert first <= 2 + 2 * 102
    for path in ("/crs?group=namespace", "/crs?state=failed", "/crs?sort=-took"):
        await text_of(page, path, "token-of-dora")
    assert page.cluster.asked["SubjectAccessReview"] == first


async def test_order_is_made_once_for_all_readers_and_few_are_kept(page: Shown) -> None:
    await asyncio.gather(*(text_of(page, "/crs?sort=-took") for _ in range(10)))
    rows = page.page._table._rows
    assert rows is not None
    assert len(rows.found) == 1
    for number in range(30):
        await text_of(page, f"/crs?name=n{number}")
    assert page.page._table._rows is rows
    assert len(rows.found) <= 8


async def test_ten_thousand_objects_are_sorted_in_a_moment(page: Shown) -> None:
    for number in range(10_000):
        page.world.known[key(f"site-{number:05}")] = Known()
    await text_of(page, "/crs")
    began = perf_counter()
    await text_of(page, "/crs?sort=-since")
    assert perf_counter() - began < 5
