"""What a CR owns is shown, also when its role wrote it many runs ago."""

from __future__ import annotations

import re

import pytest

from tests.e2e.conftest import MEMCACHED_CRD
from tests.e2e.page.conftest import WITH_PAGE, Shown
from tests.fixtures.eventually import eventually

SHARED_ENGINE, KINDS = WITH_PAGE, [MEMCACHED_CRD]
_LOOKED_INTO = 5  # runs, at most


def owned_in(text: str) -> list[str]:
    """The kinds of what it owns."""
    tree = text.partition('id="owned"')[2].partition("</section>")[0]
    return re.findall(r'<span class="kind">(.*?)</span>', tree)


@pytest.mark.nightly
async def test_objects_made_long_ago_are_shown_to_who_may_read_them(shown: Shown) -> None:
    chief = shown.user("chief")
    eventually(lambda: shown.engine.runs() >= 2)
    for _ in range(_LOOKED_INTO + 1):
        before = shown.engine.runs()
        assert chief.does(f"{shown.path()}/reconcile")[0] == 200
        eventually(lambda before=before: shown.engine.runs() > before)  # type: ignore[misc]
    found = owned_in(chief.asks(shown.path())[1])
    assert "ConfigMap" in found
    assert not owned_in(shown.user("reader").asks(shown.path())[1])
