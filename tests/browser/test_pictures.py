"""The pictures of docs/guides/page.md: views of the busy world."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from rolecall.extensions.console.page import places
from rolecall.workqueue import Key
from tests.browser.looking import IN_THE_GUIDE, Looking
from tests.browser.seeded_roles import WEBSITE
from tests.browser.seeded_world import SeededWorld
from tests.browser.served_worlds import ServedWorld
from tests.browser.world_views import slower_database

FAILED = Key(WEBSITE.gvk, "north", "website-007")
WELL = Key(WEBSITE.gvk, "green", "website-001")
PLANNED = Key(WEBSITE.gvk, "north", "website-002")  # other tests ask for the first plan of others


@dataclass(frozen=True)
class Picture:
    path: str
    down_to: str  # the last thing on it
    text: str  # that the guide leads one to expect
    click: str = ""  # a button, first


def pictures_of(world: SeededWorld) -> dict[str, Picture]:
    slower, failed = slower_database(world), world.kept[FAILED]
    yaml = places.of_object(WELL, "apps", "v1", "Deployment", WELL.namespace, WELL.name)
    compared = places.of_comparison(slower, *world.kept[slower][-2:])
    return {
        "overview": Picture("/", "#kinds", "objects fail, for 5 reasons"),
        "kinds": Picture("/kinds?since=12:00", "section.kind >> nth=1", "Database got 3"),
        "fleet": Picture("/crs?group=reason", "#results", "2,000 objects in 6 groups"),
        "object": Picture(places.of_cr(FAILED), "#owned", "ImagePullBackOff"),
        "yaml": Picture(yaml, "#written", "kubectl-edit"),
        "plan": Picture(places.of_plan(PLANNED), "#plan", "1 to change", "Plan a run now"),
        # The first one that failed, after an edit.
        "run": Picture(places.of_run(FAILED, failed[-4]), "#tasks", "generation 1 became 2"),
        "comparison": Picture(compared, "#tasks", "slower, of which"),
    }


@pytest.mark.parametrize("name", IN_THE_GUIDE)
def test_view_shows_in_the_busy_world_what_the_guide_says(
    visitor_in_time: Looking, busy: ServedWorld, name: str
) -> None:
    picture = pictures_of(busy.world)[name]
    page = visitor_in_time.go(picture.path)
    if picture.click and (button := page.get_by_role("button", name=picture.click)).count():
        button.click()
    expect(page.locator("main")).to_contain_text(picture.text)
    visitor_in_time.picture(name, down_to=page.locator(picture.down_to))
