"""On this machine only users with the printed address are let in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.page.serving import Shown, shown

SECRET = "printed-on-this-machine"


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path, local_token=SECRET) as page:
        page.cluster.knows("anna")
        yield page


async def test_printed_address_becomes_a_cookie_and_loses_its_token(page: Shown) -> None:
    answer = await page.asks(f"/crs?name=a&token={SECRET}&label=x%3Dy")
    assert (answer.code, answer.headers["Location"]) == (303, "/crs?name=a&label=x%3Dy")
    assert SECRET not in answer.cookie
    cookie = answer.cookie.partition("=")[2].partition(";")[0]
    assert (await page.asks("/", cookie=cookie)).code == 200


async def test_other_users_are_rejected(page: Shown) -> None:
    for path in ("/", "/?token=", "/?token=guessed", f"/?token={SECRET}x"):
        assert (await page.asks(path)).headers["Location"].startswith("/login")
    assert (await page.asks("/", token=SECRET)).code == 303
    assert (await page.asks("/", token="token-of-anna")).code == 303
    assert (await page.asks("/login", {"token": SECRET})).code == 401
    assert page.cluster.asked == {}


async def test_address_with_the_token_does_not_lead_to_another_site(page: Shown) -> None:
    for path in (f"//evil.example/?token={SECRET}", f"/%5Cevil.example?token={SECRET}"):
        answer = await page.asks(path)
        assert answer.headers.get("Location", "/") in ("/", "/%5Cevil.example")


async def test_wrong_tokens_of_another_site_do_not_lock_the_right_one_out(page: Shown) -> None:
    codes = [(await page.asks("/?token=guessed")).code for _ in range(12)]
    assert codes[-1] == 429
    assert (await page.asks(f"/?token={SECRET}")).code == 303
    assert (await page.asks(f"/?token={SECRET}")).cookie != ""
