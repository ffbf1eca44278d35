"""Answers of the cluster on who may do what: kept for half a minute, and no where it does not say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster
from tests.unit.runner_warm.fakes import SteppedClock

from rolecall.extensions.console.page.access import AccessReviews, TooManyError
from rolecall.extensions.console.page.access.reviews import Question
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import TokenUser

ANNA = TokenUser("anna", "uid-anna")
GET = Question("get", "demo.example.com", "websites", namespace="shop", name="a")
RULE = ("get", "websites", "shop")


@pytest.fixture
def cluster() -> FakeCluster:
    cluster = FakeCluster()
    cluster.knows("anna", RULE)
    return cluster


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def reviews(cluster: FakeCluster, clock: SteppedClock) -> AccessReviews:
    return AccessReviews(FakeClient(cluster), clock)


async def test_answer_is_kept_for_half_a_minute(
    reviews: AccessReviews, cluster: FakeCluster, clock: SteppedClock
) -> None:
    assert await reviews.allows(ANNA, GET)
    cluster.rules["anna"].clear()
    clock.step(29.9)
    assert await reviews.allows(ANNA, GET)
    assert cluster.asked["SubjectAccessReview"] == 1
    clock.step(0.1)
    assert not await reviews.allows(ANNA, GET)
    assert cluster.asked["SubjectAccessReview"] == 2


async def test_refusal_is_kept_as_long(
    reviews: AccessReviews, cluster: FakeCluster, clock: SteppedClock
) -> None:
    cluster.rules["anna"].clear()
    assert not await reviews.allows(ANNA, GET)
    cluster.rules["anna"].add(RULE)
    assert not await reviews.allows(ANNA, GET)
    clock.step(30)
    assert await reviews.allows(ANNA, GET)


async def test_cluster_that_does_not_say_means_no_and_is_asked_again(
    reviews: AccessReviews, cluster: FakeCluster
) -> None:
    cluster.is_silent = True
    assert not await reviews.allows(ANNA, GET)
    cluster.is_silent = False
    assert await reviews.allows(ANNA, GET)


@pytest.mark.parametrize(
    "question",
    [
        Question("patch", "demo.example.com", "websites", namespace="shop", name="a"),
        Question("get", "other.example.com", "gadgets", namespace="shop", name="a"),
        Question("get", "demo.example.com", "websites", "log", "shop", "a"),
        Question("get", "demo.example.com", "websites", namespace="bank", name="a"),
        Question("get", "demo.example.com", "websites"),
    ],
)
async def test_kept_answer_is_for_its_question_alone(
    reviews: AccessReviews, question: Question
) -> None:
    assert await reviews.allows(ANNA, GET)
    assert not await reviews.allows(ANNA, question)


async def test_kept_answer_is_for_its_user_alone(reviews: AccessReviews) -> None:
    assert await reviews.allows(ANNA, GET)
    assert not await reviews.allows(TokenUser("bob", "uid-anna"), GET)


async def test_token_for_less_does_not_get_what_the_whole_user_was_answered(
    reviews: AccessReviews,
) -> None:
    """Some tokens say in `extra` that they are for less than their user may."""
    assert await reviews.allows(ANNA, GET)
    lesser = TokenUser("anna", "uid-anna", extra={"scopes": ["list"]})
    assert not await reviews.allows(lesser, GET)


async def test_oldest_answers_are_forgotten_before_they_fill_the_memory(
    reviews: AccessReviews, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.extensions.console.page.access.reviews._MOST_KEPT", 2)
    names = [Question("get", "g", "websites", namespace="shop", name=each) for each in "abc"]
    for question in [*names, names[2], names[1], names[0]]:
        await reviews.allows(ANNA, question)
    assert cluster.asked["SubjectAccessReview"] == 4


async def test_question_that_is_being_asked_is_not_asked_again(
    reviews: AccessReviews, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = cluster.create

    async def later(gvk: Gvk, body: Mapping[str, Any]) -> Json:
        await asyncio.sleep(0)
        return await create(gvk, body)

    monkeypatch.setattr(cluster, "create", later)
    assert all(await asyncio.gather(*(reviews.allows(ANNA, GET) for _ in range(50))))
    assert cluster.asked["SubjectAccessReview"] == 1


async def test_user_without_rights_costs_a_limited_number_of_reviews(
    reviews: AccessReviews, cluster: FakeCluster, clock: SteppedClock
) -> None:
    """A reader who may list nothing is asked about in each namespace."""

    async def asks(user: TokenUser, number: int) -> bool:
        place = Question("list", "g", "websites", namespace=f"n-{number}")
        return await reviews.allows(user, place)

    for number in range(500):
        assert not await asks(ANNA, number)
    with pytest.raises(TooManyError):
        await asks(ANNA, 500)
    assert not await asks(ANNA, 0)  # known, so it costs nothing
    assert cluster.asked["SubjectAccessReview"] == 500
    assert not await asks(TokenUser("bob"), 0)
    clock.step(1)
    assert not await asks(ANNA, 500)
