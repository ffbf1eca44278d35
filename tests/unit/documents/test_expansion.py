from __future__ import annotations

import pytest

from rolecall.documents import expand, unset_names

ENVIRONMENT = {"A": "1", "EMPTY": "", "_b2": "x", "odd-name": "y", "NESTED": "${A}"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("${A}", "1"),
        ("$A", "1"),
        ("$A.$_b2/${_b2}c", "1.x/xc"),
        ("[${EMPTY}$EMPTY]", "[]"),
        ("${odd-name}", "y"),
        # Not set: left exactly as it was.
        ("${NO}", "${NO}"),
        ("$NO", "$NO"),
        ("$Ab", "$Ab"),
        ("${A:-default}", "${A:-default}"),
        # Nothing that could be a name.
        ("$1 $$ $# $* $@ $! $? $-", "$1 $$ $# $* $@ $! $? $-"),
        ("^a$", "^a$"),
        ("${}", "${}"),
        ("${", "${"),
        ("${A", "${A"),
        ("$ {A}", "$ {A}"),
        ("$$A", "$1"),
        # A value is spliced in once, not expanded again.
        ("${NESTED}", "${A}"),
        ("# ${A} in a comment", "# 1 in a comment"),
    ],
)
def test_only_what_is_set_is_replaced(text: str, wanted: str) -> None:
    assert expand(text, ENVIRONMENT).text == wanted


def test_every_line_knows_where_it_came_from() -> None:
    expanded = expand("a\n$V\nb\n${V}c\nd", {"V": "x\ny\nz"})

    assert expanded.text.split("\n") == ["a", "x", "y", "z", "b", "x", "y", "zc", "d"]
    assert [expanded.origin(line) for line in range(9)] == [1, 2, 2, 2, 3, 4, 4, 4, 5]


def test_lines_past_the_end_belong_to_the_last() -> None:
    assert expand("a\nb", {}).origin(7) == 2


def test_unset_names_are_what_is_left() -> None:
    assert unset_names("roles/${ONE}/$TWO/$1/${}") == ["ONE", "TWO"]
