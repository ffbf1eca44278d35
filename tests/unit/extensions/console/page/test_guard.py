"""What every request passes: who is let in, by what, and what a browser may do with the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.page.serving import ALL, Shown, place, shown

TOKEN = "token-of-anna"
CHANGE = ("patch", "websites", "*")


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL, CHANGE)
        page.has("a")
        yield page


async def test_cookie_is_for_this_page_alone_and_no_script(page: Shown) -> None:
    answer = await page.asks("/login", {"token": TOKEN, "back": "/"})
    name, *flags = answer.cookie.split("; ")
    assert name.startswith("rolecall_page=")
    assert set(flags) == {"HttpOnly", "Path=/", "SameSite=Strict"}


async def test_cookie_of_a_page_with_tls_never_goes_without(tmp_path: Path) -> None:
    async with shown(tmp_path, is_tls=True) as page:
        page.cluster.knows("anna")
        answer = await page.asks("/login", {"token": TOKEN, "back": "/"})
        name, *flags = answer.cookie.split("; ")
        assert set(flags) == {"HttpOnly", "Path=/", "SameSite=Strict", "Secure"}
        # So that no neighbour below the same domain, and nothing without TLS, can set it.
        assert name.startswith("__Host-rolecall_page=")
        cookie = name.partition("=")[2]
        assert (await page.asks("/", cookie=cookie)).code == 303
        assert (await page.asks("/", Cookie=f"__Host-rolecall_page={cookie}")).code == 200
        assert "Secure" in (await _left(page, f"__Host-rolecall_page={cookie}")).split("; ")


async def _left(page: Shown, cookie: str) -> str:
    """The cookie that the answer to a logout sets."""
    form = {"form_token": await page.form_token(Cookie=cookie)}
    return (await page.asks("/logout", form, Cookie=cookie)).cookie


async def test_login_begins_a_session_of_its_own_whatever_cookie_came(page: Shown) -> None:
    chosen = "chosen-by-another"
    answer = await page.asks("/login", {"token": TOKEN, "back": "/"}, cookie=chosen)
    assert chosen not in answer.cookie
    assert (await page.asks("/", cookie=chosen)).code == 303


async def test_cookie_and_header_both_let_in(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    assert (await page.asks(place("a"), cookie=cookie)).code == 200
    assert (await page.asks(place("a"), token=TOKEN)).code == 200
    assert (await page.asks(place("a"), Authorization=f"bearer  {TOKEN} ")).code == 200


@pytest.mark.parametrize("scheme", ["Basic", "Bearer", "", "Bearerx"])
async def test_other_headers_do_not_authenticate(page: Shown, scheme: str) -> None:
    word = "" if scheme == "Bearer" else TOKEN
    assert (await page.asks("/", Authorization=f"{scheme} {word}")).code == 303


async def test_a_change_takes_the_form_token_of_its_session(page: Shown) -> None:
    mine, other = await page.logs_in(TOKEN), await page.logs_in(TOKEN)
    others = await page.form_token(cookie=other)
    pause = f"{place('a')}/pause"
    for reported in ("", "guessed", others):
        refused = await page.asks(pause, {"form_token": reported}, cookie=mine)
        assert (refused.code, page.cluster.patches) == (403, [])
    right = await page.form_token(cookie=mine)
    assert (await page.asks(pause, {"form_token": right}, cookie=mine)).code == 303
    assert (await page.asks(pause, {}, cookie=mine, X_Form_Token=right)).code == 303
    assert len(page.cluster.patches) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1@evil.example"},
    ],
)
async def test_other_sites_change_nothing_and_cannot_log_a_user_in(
    page: Shown, headers: dict[str, str]
) -> None:
    cookie = await page.logs_in(TOKEN)
    form = {"form_token": await page.form_token(cookie=cookie)}
    for action in ("pause", "resume", "reconcile", "stop"):
        refused = await page.asks(f"{place('a')}/{action}", form, cookie=cookie, **headers)
        assert refused.code == 403
    assert (page.cluster.patches, page.world.asked) == ([], [])
    assert (await page.asks("/logout", form, cookie=cookie, **headers)).code == 403
    login = await page.asks("/login", {"token": TOKEN}, **headers)
    assert (login.code, login.cookie) == (403, "")


async def test_own_page_may_change(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    form = {"form_token": await page.form_token(cookie=cookie)}
    path = f"{place('a')}/pause"
    for site in ({"Origin": page.here}, {"Origin": "null"}, {"Sec_Fetch_Site": "same-origin"}):
        assert (await page.asks(path, form, cookie=cookie, **site)).code == 303


async def test_changes_are_never_made_by_looking(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    reported = await page.form_token(cookie=cookie)
    for action in ("pause", "resume", "reconcile", "stop"):
        path = f"{place('a')}/{action}?form_token={reported}"
        await page.asks(path, cookie=cookie)
    assert (page.cluster.patches, page.world.asked) == ([], [])


@pytest.mark.parametrize(
    "back",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "/a\r\nSet-Cookie: x=y",
        "evil.example",
        "/\x00",
        "/ \u202e",
        "javascript:alert(1)",
        "",
    ],
)
async def test_login_does_not_lead_to_another_site(page: Shown, back: str) -> None:
    answer = await page.asks("/login", {"token": TOKEN, "back": back})
    assert (answer.code, answer.headers["Location"]) == (303, "/")


async def test_login_leads_back_to_where_the_link_led(page: Shown) -> None:
    path = "/crs?name=a%2Fb&label=x%3Dy"
    sent = await page.asks(path)
    assert sent.headers["Location"] == "/login?back=%2Fcrs%3Fname%3Da%252Fb%26label%3Dx%253Dy"
    answer = await page.asks("/login", {"token": TOKEN, "back": path})
    assert answer.headers["Location"] == path


@pytest.mark.parametrize("host", [b"evil.example", b"", b"[::1", b"a@b", b'"><script>'])
async def test_name_by_which_it_was_called_is_not_believed(page: Shown, host: bytes) -> None:
    for path in (b"/", b"/login", b"/nowhere"):
        text = await page.sends(b"GET " + path + b" HTTP/1.1\nConnection: close\nHost: " + host)
        assert "500 " not in text.partition("\n")[0]
        assert "evil.example" not in text and '"><script>' not in text


@pytest.mark.parametrize(
    "line",
    [
        b"Cookie: rolecall_page=\xff",
        b"Authorization: Bearer \xff\xfe",
        b"Authorization: Bearer a\tb",
        b"Origin: \xff",
        b"Last-Event-ID: \xff",
        b"Content-Type: multipart/form-data",
        b"Content-Type: application/x-www-form-urlencoded; charset=unknown",
    ],
)
async def test_bytes_that_are_no_text_are_no_internal_error(
    page: Shown, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for start in (
        b"GET /crs",
        b"GET /events",
        b"POST /login",
        b"POST " + place("a/pause").encode(),
    ):
        sent = start + b" HTTP/1.1\nHost: x\nConnection: close\nContent-Length: 1\n" + line
        text = await page.sends(sent + b"\n\n=")
        assert text.split()[1] in ("303", "401", "403", "400"), (start, text)
    assert "internal error" not in caplog.text


async def test_bytes_that_are_no_text_are_no_form_token(page: Shown) -> None:
    head = f"POST {place('a')}/pause HTTP/1.1\nHost: x\nConnection: close\nContent-Length: 0\n"
    sent = f"{head}Authorization: Bearer {TOKEN}\nX-Form-Token: ".encode() + b"\xff"
    assert (await page.sends(sent)).split()[1] == "403"


async def test_longest_token_that_is_asked_about(page: Shown) -> None:
    answer = await page.asks("/login", {"token": "x" * 16_385})
    assert answer.code == 401
    assert page.cluster.asked["TokenReview"] == 0


async def test_no_user_logs_in_while_the_cluster_does_not_answer(page: Shown) -> None:
    page.cluster.is_silent = True
    answer = await page.asks("/login", {"token": TOKEN})
    assert (answer.code, answer.cookie) == (503, "")
    assert (await page.asks("/", token=TOKEN)).code == 503


async def test_invalid_token_is_slowed_down_and_locks_out_no_other_token(page: Shown) -> None:
    """All readers may have one address, that of an ingress."""
    codes = [(await page.asks("/login", {"token": "expired"})).code for _ in range(12)]
    assert codes == [401] * 10 + [429] * 2
    assert page.cluster.asked["TokenReview"] == 10
    guesses = {(await page.asks("/", token=f"guess-{n}")).code for n in range(30)}
    assert guesses == {303}
    assert (await page.asks("/login", {"token": TOKEN})).code == 303
    page.cluster.knows("newcomer", *ALL)
    assert (await page.asks("/", token="token-of-newcomer")).code == 200
    page.clock.step(6)
    assert (await page.asks("/login", {"token": "expired"})).code == 401


async def test_valid_token_is_never_counted(page: Shown) -> None:
    codes = {(await page.asks("/login", {"token": TOKEN})).code for _ in range(30)}
    assert codes == {303}


async def test_session_that_asks_too_often_has_to_wait(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    codes = [(await page.asks("/crs", cookie=cookie)).code for _ in range(102)]
    assert codes == [200] * 100 + [429] * 2
    page.clock.step(1)
    assert (await page.asks("/crs", cookie=cookie)).code == 200


async def test_every_answer_forbids_what_the_page_does_not_need(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    for path in ("/", "/crs", place("a"), place("absent/x"), "/login", "/nowhere", "/static/x/y"):
        answer = await page.asks(path, cookie=cookie)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers
