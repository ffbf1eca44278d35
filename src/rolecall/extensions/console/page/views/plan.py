"""What a run would change: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.clock import time_text
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.plans import AskedPlan
from rolecall.extensions.console.page.views.rendering import (
    Html,
    PageLayout,
    page,
    path_to,
    render,
)
from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class PlanPage:
    key: Key
    lacking: Sequence[str]  # rights that the reader does not have
    plan: AskedPlan | None  # None: not asked for, or not for this reader

    @property
    def is_awaited(self) -> bool:
        return self.plan is not None and not self.plan.is_over

    @property
    def asked(self) -> str:
        return time_text(self.plan.asked) if self.plan is not None else ""


def plan(shown: PlanPage, layout: PageLayout) -> Html:
    title = f"What a run of {shown.key} would change"
    here, above = places.of_plan(shown.key), path_to(shown.key)
    return page("plan", title, layout, above=above, shown=shown, here=here)


def plan_parts(shown: PlanPage) -> Html:
    """What changes while one waits for it."""
    return render("plan_parts", shown=shown, here=places.of_plan(shown.key))
