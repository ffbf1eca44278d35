"""A CRD that was removed: its kind is looked for again, and not taken for one without objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rolecall_warm.hooks.gone_kinds import is_about_the_kind, looking_again, noticing

STATUS = b'{"kind":"Status","code":404,"reason":"NotFound"}'


class RefusedError(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__()
        self.status, self.body = status, body


class Collection:
    """As kubernetes.core behaves: a 404 means that nothing is there; kinds are found in a cache."""

    def __init__(self, looks_until_known: int = 1, body: bytes = b"404 page not found\n") -> None:
        self.left, self.body, self.asked = looks_until_known, body, 0
        self.resources = SimpleNamespace(invalidate_cache=self._look)
        self.client = self

    def _look(self) -> None:
        self.left -= 1

    def _get(self, _: object) -> None:
        self.asked += 1
        raise RefusedError(404, self.body)

    def _find(self) -> dict[str, Any]:
        if self.left <= 0:
            return {"api_found": False, "resources": []}
        try:
            self.get("a kind")
        except RefusedError:
            return {"api_found": True, "resources": []}
        raise AssertionError("it answers nothing else")

    get = noticing(_get)
    find = looking_again(_find)


@pytest.mark.parametrize("looks", [1, 2])
def test_deleted_kind_is_reported_as_not_served_also_where_old_documents_come_first(
    looks: int,
) -> None:
    assert Collection(looks).find() == {"api_found": False, "resources": []}


def test_object_that_is_not_there_has_nothing_looked_for_again() -> None:
    collection = Collection(body=STATUS)
    assert collection.find() == {"api_found": True, "resources": []}
    assert (collection.asked, collection.left) == (1, 1)


def test_it_looks_no_further_where_the_server_contradicts_itself() -> None:
    collection = Collection(99)
    assert collection.find() == {"api_found": True, "resources": []}
    assert collection.asked == 3


@pytest.mark.parametrize(
    ("status", "body", "is_so"),
    [
        (404, b"404 page not found\n", True),
        (404, "404 page not found", True),
        (404, None, True),
        (404, STATUS, False),
        (403, b"no", False),
        (500, b"404 page not found\n", False),
    ],
)
def test_status_distinguishes_a_missing_object_from_a_missing_kind(
    status: int, body: Any, *, is_so: bool
) -> None:
    assert is_about_the_kind(RefusedError(status, body)) == is_so


def test_error_that_is_no_answer_says_nothing_of_kinds() -> None:
    assert not is_about_the_kind(ValueError("x"))
