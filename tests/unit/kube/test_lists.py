"""Long lists are taken apart without stopping the loop."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from rolecall.kube.lists import decode_page

ITEM = '{"metadata": {"name": "good"}}'


def body(items: list[Any] | None, *, indent: int | None = None, **head: Any) -> bytes:
    document = {"apiVersion": "v1", "items": items, "kind": "SecretList", **head}
    return json.dumps(document, indent=indent).encode()


@pytest.mark.parametrize("indent", [None, 2])
async def test_items_get_the_kind_that_lists_leave_out(indent: int | None) -> None:
    items: list[Any] = [{"metadata": {"name": "a"}, "data": {"items": "[]"}}]
    items.append({"metadata": {"name": "b"}, "kind": "Other"})
    metadata = {"resourceVersion": "7", "continue": "more"}
    page = await decode_page(body(items, indent=indent, metadata=metadata))
    assert [item["kind"] for item in page.items] == ["Secret", "Other"]
    assert page.items[0]["apiVersion"] == "v1"
    assert page.items[0]["data"] == {"items": "[]"}
    assert (page.resource_version, page.next_page) == ("7", "more")


@pytest.mark.parametrize("items", [[], None])
async def test_empty_list_may_also_be_null(items: list[Any] | None) -> None:
    page = await decode_page(body(items, metadata={"resourceVersion": "7"}))
    assert (page.items, page.next_page) == ([], "")


async def test_items_lose_unread_fields() -> None:
    item = {"metadata": {"name": "a", "managedFields": [{"f": {}}]}}
    page = await decode_page(body([item], metadata={}))
    assert page.items[0]["metadata"] == {"name": "a"}


@pytest.mark.parametrize("text", ["", "[]", '{"items": [null 2]}', '{"items": [', "{'a': 1}"])
async def test_what_is_no_list_is_an_error(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        await decode_page(text.encode())


async def test_others_get_their_turn_while_a_long_list_is_read() -> None:
    items = [{"metadata": {"name": f"a-{number}"}, "text": "ä" * 2000} for number in range(2000)]
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    page = await decode_page(body(items, metadata={}))
    counting.cancel()
    assert len(page.items) == 2000
    assert turns > 50


async def test_unreadable_item_holds_up_no_other_and_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    bad = f'{{"metadata": {{"name": "bad", "namespace": "x", "f": {deep}}}, "spec": "]}}\\""}}'
    text = (
        f'{{"kind": "AppList", "metadata": {{"resourceVersion": "7"}}, "items": [{bad}, {ITEM}]}}'
    )
    page = await decode_page(text.encode())
    assert [item["metadata"]["name"] for item in page.items] == ["good"]
    assert page.resource_version == "7"
    (reported,) = [record for record in caplog.records if "too deeply" in record.message]
    assert reported.__dict__["fields"] == {"kind": "App", "namespace": "x", "name": "bad"}
