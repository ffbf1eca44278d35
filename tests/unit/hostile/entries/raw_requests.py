"""Raw bytes of a play, read by the proxy and by a second reader of HTTP (`second_http`).

What the API server gets must be requests that both readers see: the same methods, targets and bodies,
each with the engine's own credential, each answered to its sender, in order. So nothing that hides
behind a length, a chunk or a line end is a request of its own. What the second reader refuses, the
proxy refuses, or never passes on; and it answers all that is whole.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from rolecall.kube import Client, Credentials
from rolecall.proxy import Proxy
from rolecall.settings import ProxySettings
from tests.fixtures.eventually import eventually_async
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, HungError, must
from tests.unit.hostile.second_http import ReadRequest, Rest, read_requests
from tests.unit.proxy.crs import app, watch
from tests.unit.proxy.upstream import Reported, kubeconfig_for

# Stands in a case for the login of the run, which is another each time, but as long.
_LOGIN = "Basic " + ("LOGIN" * 56)[:276]
_MAPS = "/api/v1/namespaces/prod/configmaps"
_ANSWER_S = 10.0  # a busy machine may take seconds
_QUIET_S = 0.1  # for an answer to what is no request; none need come
_SMUGGLED = f"DELETE {_MAPS}/smuggled HTTP/1.1\r\nHost: x\r\nAuthorization: {_LOGIN}\r\n\r\n"

_METHODS = ("GET", "PATCH", "DELETE", "POST", "PUT", "HEAD", "OPTIONS")
_ODD_METHODS = (
    "get",
    "CONNECT",
    "TRACE",
    "PRI",
    "G ET",
    "GET\t",
    "M-SEARCH",
    "PURGE",
    "X",
    "GE\0T",
)
_TARGETS = (
    *(
        f"{_MAPS}/x",
        f"{_MAPS}?a=b&c=%20",
        f"{_MAPS}/a%2Fb",
        "/apis/x.y/v1/z",
        f"{_MAPS}/x?a={_MAPS}",
    ),
    *(f"{_MAPS}/x", f"{_MAPS}/y", "/api/v1/namespaces/prod/pods/p/log"),
)
_ODD_TARGETS = (
    *("http://127.0.0.1/api/v1/x", "http://other:99/api/v1/x?q", "https://h/x", "*", "//other/x"),
    *(f"{_MAPS}/x y", f"{_MAPS}/\xfc", f"{_MAPS}/x#f", f"{_MAPS}/x?a#f", f"{_MAPS}/x\t", "x", ""),
    *(f"{_MAPS}/x\0", f'{_MAPS}/{{}}|^`<>"\\', f"{_MAPS}/%zz", "/" + "a" * 9000, "/" + "b" * 70000),
    *(
        f"{_MAPS}/x HTTP/1.1",
        f"{_MAPS}/x\rGET /y",
        f"{_MAPS}/x\n",
        "http://",
        "http:///x",
        "?a",
        "/?",
    ),
    *(
        "http://u:p@127.0.0.1/api/v1/x",
        "//127.0.0.1:1/api",
        f"{_MAPS}/x;a=b",
        "/[::1]/x",
        "http://[x/",
    ),
)
_VERSIONS = ("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/1.", "")
_LENGTHS = (
    *("+{0}", "-{0}", " {0} ", "0{0}", "{0},{0}", "{0}, {0}", "{0};", "0x{0}", "{0}\0", "{0} {0}"),
    *("{0}.0", "\x0b{0}", "1e1", "", "9" * 20, str(2**64), str(2**63), "{0}\t", "\xb2", "{0}\r"),
)
_CODINGS = (
    *(
        "chunked",
        "Chunked",
        " chunked",
        "chunked ",
        "xchunked",
        "chunked, chunked",
        "gzip, chunked",
    ),
    *("identity", "chunked, identity", "chunked;q=1", "\x0bchunked", "chunked\0", '"chunked"', ""),
    *("chunk", "\tchunked", "chunked,", ",chunked", "identity, chunked", "cHuNkEd"),
)
_ODD_FIELDS = (
    *("X : y", " X: y", "X", ": y", "X\0: y", "X: a\0b", "X: a\r\n b", "X: a\r\n\tb", "X: a\rb"),
    *(
        "X: a\nContent-Length: 3",
        "X: \xe9\xff",
        "X\xe9: y",
        "Transfer-Encoding : chunked",
        "X:",
        "X:\x7f",
    ),
    *("Content-Length\t: 5", "Content_Length: 5", "Connection: close", "Connection: keep-alive"),
    *("Connection: Content-Length", "Connection: Transfer-Encoding, close", "Connection: host"),
    *("Upgrade: SPDY/3.1", "Connection: Upgrade", "Expect: 100-continue", "Expect: other"),
    *(
        "TE: trailers",
        "Trailer: Content-Length",
        "Content-Encoding: gzip",
        "Proxy-Connection: close",
    ),
    *("Authorization: Basic eDp5", "Authorization: Bearer x", "Host: y", "Host:", "Keep-Alive: 5"),
    *("Impersonate-User: jane", "X: " + "y" * 9000, "X: " + "y" * 70000, "y" * 70000 + ": x"),
    *("X-HTTP-Method-Override: DELETE", "Forwarded: for=x", "Range: bytes=0-1", "(X): y", "X{}: y"),
)
# No extension above 64 KB: one that comes in two pieces breaks the body, one in a piece does not.
_ODD_SIZES = (
    *(
        "0x{0}",
        "+{0}",
        "-{0}",
        " {0}",
        "{0} ",
        "{0};a=b",
        '{0};a="\\"b"',
        "{0};\r\n",
        "{0};a\n",
        "0{0}",
    ),
    *(
        "{0};" + "e" * 5000,
        "0" * 15 + "{0}",
        "0" * 40 + "{0}",
        "f" * 16,
        "1" + "0" * 16,
    ),
    *("{0}\t", "{0}\0", "", "g", "{0}\r", "{0};\xff"),
)
_ENDS = ("\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n", "\n\r", "\0", " \r\n", "\r\n ")


def _make(dice: Dice) -> dict[str, Any]:
    """Requests behind each other, of which mostly one is odd, cut into pieces anywhere."""
    text = "".join(_request(dice) for _ in range(dice.pick((1, 1, 1, 2, 2, 3))))
    if dice.happens(0.1):
        text += dice.pick(("\r\n", "\r\n\r\n", "\n", "\0", "GET", _SMUGGLED[:-2], "0\r\n\r\n", " "))
    if dice.happens(0.12):
        at = dice.number(0, len(text))
        text = (
            text[:at]
            + dice.pick(("", "\r", "\n", "\r\n", "\0", " ", "\t"))
            + text[at + dice.number(0, 2) :]
        )
    cuts = sorted(dice.number(0, len(text)) for _ in range(dice.pick((0, 0, 1, 3))))
    return {"text": text, "cuts": cuts}


def _request(dice: Dice) -> str:
    oddness = dice.pick(
        ("none", "none", "line", "field", "length", "coding", "chunks", "both", "ends")
    )
    method, target, version = dice.pick(_METHODS), dice.pick(_TARGETS), "HTTP/1.1"
    if oddness == "line":
        match dice.number(0, 3):
            case 0:
                method = dice.pick(_ODD_METHODS)
            case 1 | 2:
                target = dice.pick(_ODD_TARGETS)
            case _:
                version = dice.pick(_VERSIONS)
    lines = [f"{method} {target} {version}", "Host: 127.0.0.1"]
    if dice.happens(0.93):
        lines.append(f"Authorization: {_LOGIN}")
    fields, body = _framing(dice, oddness)
    lines += fields
    if oddness == "field" or dice.happens(0.1):
        for _ in range(dice.pick((1, 1, 2))):
            lines.insert(dice.number(1, len(lines)), dice.pick(_ODD_FIELDS))
    end = "\r\n"
    text = ""
    for line in lines:
        text += line + (dice.pick(_ENDS) if oddness == "ends" and dice.happens(0.3) else end)
    return text + (dice.pick(_ENDS) if oddness == "ends" and dice.happens(0.4) else end) + body


def _framing(dice: Dice, oddness: str) -> tuple[list[str], str]:
    """Headers that say how long the body is, and a body that may go on as a request."""
    content = dice.pick(("", "{}", "a=b", "x" * 300, _SMUGGLED, "0\r\n\r\n", "y" * 20000))
    length = len(content)
    if oddness in ("none", "line", "field", "ends"):
        if not content:
            return [], ""
        if dice.happens(0.3):
            return ["Transfer-Encoding: chunked"], _chunked(dice, content, odd=False)
        return [f"Content-Length: {length}"], content
    if oddness == "length":
        said = dice.pick(_LENGTHS).replace("{0}", str(length))
        fields = [f"Content-Length: {said}"]
        if dice.happens(0.3):
            fields.append(f"Content-Length: {dice.pick((length, length + 1, 0, 3))}")
        if dice.happens(0.2):
            fields = [f"Content-Length: {max(0, length + dice.pick((-5, -1, 1, 5)))}"]
        return fields, content + (_SMUGGLED if dice.happens(0.4) else "")
    coding = dice.pick(_CODINGS) if oddness != "chunks" else "chunked"
    name = dice.pick(
        ("Transfer-Encoding", "transfer-encoding", "Transfer-Encoding ", "Transfer_Encoding")
    )
    fields = [f"{name if oddness == 'coding' else 'Transfer-Encoding'}: {coding}"]
    if oddness == "coding" and dice.happens(0.2):
        fields.append(f"Transfer-Encoding: {dice.pick(_CODINGS)}")
    if oddness == "both":
        fields.insert(dice.number(0, 1), f"Content-Length: {dice.pick((length, 0, 3, 5))}")
    return fields, _chunked(dice, content, odd=oddness == "chunks")


def _chunked(dice: Dice, content: str, *, odd: bool) -> str:
    text = ""
    while content:
        part, content = content[: (size := dice.pick((1, 7, 5000)))], content[size:]
        said = f"{len(part):x}"
        if odd and dice.happens(0.4):
            said = dice.pick(_ODD_SIZES).replace("{0}", said)
        text += f"{said}{_end(dice, odd)}{part}{_end(dice, odd)}"
    text += dice.pick(("0", "0", "00", "0;x", "0 ")) if odd else "0"
    text += _end(dice, odd)
    if odd and dice.happens(0.4):
        text += (
            dice.pick(("X: y", "Content-Length: 5", "X", ": y", "Transfer-Encoding: chunked"))
            + "\r\n"
        )
    return text + _end(dice, odd) + (_SMUGGLED if odd and dice.happens(0.3) else "")


def _end(dice: Dice, odd: bool) -> str:
    return dice.pick(_ENDS) if odd and dice.happens(0.12) else "\r\n"


@contextmanager
def _open(folder: Path) -> Iterator[Check]:
    with asyncio.Runner() as runner:
        world = _World()
        runner.run(world.begin(folder))
        try:
            yield lambda case: runner.run(world.check(case))
        finally:
            runner.run(world.end())


class _World:
    """A run in flight, and an API server that writes down all that it is sent."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._requests: list[ReadRequest] = []
        self._unread: list[bytes] = []  # of each connection that is over or cannot be read
        self._connections: dict[asyncio.StreamWriter, bytes] = {}
        self._login = b""
        self._proxy: Proxy

    async def begin(self, folder: Path) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._stack.callback(server.close)
        port = server.sockets[0].getsockname()[1]
        kubeconfig = folder / "upstream.kubeconfig"
        kubeconfig.write_text(json.dumps(kubeconfig_for(f"http://127.0.0.1:{port}")))
        credentials = Credentials.load({"KUBECONFIG": str(kubeconfig)})
        client = await self._stack.enter_async_context(Client(credentials))
        settings = ProxySettings(
            port=0, folder=folder, inject_owner=False, allows_impersonation=True
        )
        self._proxy = Proxy(settings, client, dependents=Reported())
        await self._proxy.start()
        self._stack.push_async_callback(self._proxy.stop)
        access = await self._stack.enter_async_context(
            self._proxy.issue_access("run", app(), watch())
        )
        user = yaml.safe_load(access.kubeconfig.read_text())["users"][0]["user"]
        login = aiohttp.encode_basic_auth(user["username"], user["password"])
        self._login = login.encode()
        must(len(self._login) == len(_LOGIN), "lengths in cases are right with this login, too")

    async def end(self) -> None:
        await self._stack.aclose()
        for writer in list(self._connections):
            writer.transport.abort()
        await eventually_async(lambda: not self._connections)

    async def check(self, case: Any) -> bool:
        data = case["text"].encode("latin-1", "replace").replace(_LOGIN.encode(), self._login)
        wanted, rest, _ = read_requests(data)
        self._requests.clear()
        self._unread.clear()
        answers = await self._asked(data, case["cuts"], wanted, rest)
        left = [data for data in (*self._unread, *self._connections.values()) if data]
        for writer in [each for each, data in self._connections.items() if data]:
            writer.transport.abort()
        self._compare(wanted, rest, answers, left)
        return bool(self._requests)

    def _compare(
        self, wanted: list[ReadRequest], rest: Rest, answers: list[_Answer], left: list[bytes]
    ) -> None:
        is_whole = rest in (Rest.NOTHING, Rest.BEYOND)
        must(not (left and is_whole), "the API server was sent half a request, or none at all")
        must(
            all(read_requests(data)[1] is Rest.INCOMPLETE for data in left),
            "the API server was sent what is no HTTP",
        )
        for request in self._requests:
            logins = [value for name, value in request.headers if name == "authorization"]
            must(logins == ["Bearer engine-token"], "a request has the engine's login, and one")
        reported = [answer.number for answer in answers if answer.number is not None]
        is_reset = _RESET in answers
        sent = list(range(len(self._requests)))
        must(
            reported == (sent[: len(reported)] if is_reset else sent),
            "who sent a request is answered",
        )
        places = [place for place, answer in enumerate(answers) if answer.number is not None]
        places += range(
            len(answers) - is_reset, len(answers) + len(sent) - len(reported) - is_reset
        )
        for ours, place in zip(self._requests, places, strict=True):
            must(place < len(wanted), "what is no request for the second reader is none")
            theirs = wanted[place]
            must(ours.method == theirs.method, f"{theirs.method} became {ours.method}")
            must(ours.target == theirs.target, f"{theirs.target[:80]} became {ours.target[:80]}")
            must(ours.body == theirs.body, "the body became another")
            login = theirs.header("authorization").encode()
            must(login == self._login, "without the login of a run, nothing passes")
        is_short = len(answers) < len(wanted)
        is_refused = bool(answers) and answers[-1].code >= 400
        must(not is_short or is_refused, "what is whole is answered")

    async def _asked(
        self, data: bytes, cuts: list[int], wanted: list[ReadRequest], rest: Rest
    ) -> list[_Answer]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._proxy.port)
        answers: list[_Answer] = []
        try:
            with suppress(asyncio.IncompleteReadError):
                for one, other in zip((0, *cuts), (*cuts, len(data)), strict=True):
                    writer.write(data[one:other])
                    for _ in range(3):
                        await asyncio.sleep(0)
                await _read_answers(reader, wanted, rest, answers)
        except ConnectionError:
            answers.append(_RESET)
        finally:
            writer.transport.abort()
            await self._come_to_rest()
        return answers

    async def _come_to_rest(self) -> None:
        """Wait until no task works for that connection any more."""
        server = self._proxy._server
        assert server is not None
        until = time.monotonic() + _ANSWER_S
        credentials = self._proxy._run_credentials._by_digest.values()
        while server.connections or any(one.open_requests for one in credentials):
            must(time.monotonic() < until, "work for a connection ends with it")
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = self._connections[writer] = b""
        try:
            while piece := await reader.read(1 << 16):
                found, rest, place = read_requests(data + piece)
                data = self._connections[writer] = (data + piece)[place:]
                for request in found:
                    self._requests.append(request)
                    writer.write(_answer_to(request, len(self._requests) - 1))
                if rest in (Rest.REFUSED, Rest.BEYOND) and data:
                    break
        except ConnectionError:
            pass
        finally:
            self._unread.append(self._connections.pop(writer))
            writer.close()


@dataclass(frozen=True, slots=True)
class _Answer:
    code: int
    number: int | None  # of the request to the API server that it answers; None: the proxy's own


# The proxy closed before it had read all that was sent: that takes answers on their way along.
_RESET = _Answer(999, None)


def _answer_to(request: ReadRequest, number: int) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Number: {number}\r\n"
    body = "" if request.method == "HEAD" else "ok"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def _read_answers(
    reader: asyncio.StreamReader, wanted: list[ReadRequest], rest: Rest, answers: list[_Answer]
) -> None:
    """One for each request, and what comes for that which is none."""
    for request in wanted:
        try:
            async with asyncio.timeout(_ANSWER_S):
                answers.append(await _read_answer(reader, request.method))
        except TimeoutError:
            raise HungError("what is whole got no answer") from None
    with suppress(TimeoutError):
        while rest is Rest.REFUSED:
            async with asyncio.timeout(_QUIET_S):
                answers.append(await _read_answer(reader, ""))


async def _read_answer(reader: asyncio.StreamReader, method: str) -> _Answer:
    head = b"HTTP/1.1 100"
    while head.startswith(b"HTTP/1.1 100"):
        head = await reader.readuntil(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines if line)
    code = int(line.split(" ")[1])
    if method != "HEAD":
        await reader.readexactly(int(fields.get("content-length", 0)))
    must(method == "HEAD" or "content-length" in fields, "an answer says how long it is")
    number = fields.get("x-number")
    return _Answer(code, None if number is None else int(number))


RAW_REQUESTS = EntryPoint("raw_requests", _make, _open, cases=2500)
