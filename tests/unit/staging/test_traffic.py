"""The requests of one case: which one fails, which one is held, and what the engine says meanwhile."""

from __future__ import annotations

import asyncio

from rolecall.proxy import parse_request_info
from rolecall_dev.staging import Fault, FaultKind, RequestMark, SeenRequest, Traffic

NAMESPACE = "case-1"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
MARKED = "/api/v1/namespaces/<namespace>/pods"


def note(
    traffic: Traffic, method: str = "POST", path: str = PODS, *, is_play: bool = True
) -> SeenRequest:
    info = parse_request_info(method, path)
    return traffic.note(method, info, "", is_play=is_play, at_s=0.0)


def test_same_request_in_another_namespace_has_the_same_mark() -> None:
    one, other = Traffic(NAMESPACE), Traffic("case-2")
    assert note(one).mark == note(other, path=PODS.replace("case-1", "case-2")).mark


def test_repeated_request_is_distinguished_from_the_first() -> None:
    traffic = Traffic(NAMESPACE)
    assert [note(traffic).mark.occurrence for _ in range(3)] == [1, 2, 3]


def test_fault_meets_its_request_alone_and_once() -> None:
    traffic = Traffic(NAMESPACE)
    traffic.fault = fault = Fault(RequestMark("POST", MARKED, 2), FaultKind.BROKEN)
    met = [traffic.fault_for(note(traffic)) for _ in range(4)]
    assert met == [None, fault, None, None]
    assert traffic.fault_came_at == 1


def test_request_of_the_engine_meets_no_fault() -> None:
    traffic = Traffic(NAMESPACE)
    traffic.fault = Fault(RequestMark("POST", MARKED), FaultKind.BROKEN)
    assert traffic.fault_for(note(traffic, is_play=False)) is None


async def test_write_that_changed_something_is_held_until_it_is_released() -> None:
    traffic = Traffic(NAMESPACE)
    traffic.hold(2)
    first, idle, second = (note(traffic) for _ in range(3))
    first.has_effect, idle.has_effect, second.has_effect = True, False, True
    await traffic.pass_write(first)
    await traffic.pass_write(idle)
    assert not traffic.is_held.is_set()
    held = asyncio.create_task(traffic.pass_write(second))
    await traffic.is_held.wait()
    assert not held.done()
    traffic.release()
    await held


async def test_hold_before_the_first_write_holds_the_first_request() -> None:
    traffic = Traffic(NAMESPACE)
    traffic.hold(0)
    held = asyncio.create_task(traffic.before(note(traffic, "GET")))
    await traffic.is_held.wait()
    traffic.release()
    await held


def test_what_came_before_is_forgotten_and_counted_anew() -> None:
    traffic = Traffic(NAMESPACE)
    first = note(traffic).mark
    traffic.forget()
    assert traffic.requests == []
    assert note(traffic).mark == first
