"""What a page shows, as HTML: values in, text out. Nothing here asks or reads."""

from rolecall.extensions.console.page.views.asks import LABELS, Ask, ask, ask_parts, patch_right
from rolecall.extensions.console.page.views.comparison import comparison
from rolecall.extensions.console.page.views.cr import CrPage, cr, cr_parts
from rolecall.extensions.console.page.views.fleet import (
    CR_WINDOW,
    FleetPage,
    Groups,
    Window,
    cr_groups,
    crs,
    fleet_rows,
)
from rolecall.extensions.console.page.views.kinds import KindsPage, kinds
from rolecall.extensions.console.page.views.object import ObjectPage, object_yaml
from rolecall.extensions.console.page.views.overview import (
    MOST_RUNNING,
    OverviewPage,
    Replica,
    RunProgress,
    overview,
    overview_parts,
)
from rolecall.extensions.console.page.views.owned import OwnedObject, OwnedTree, worst_first
from rolecall.extensions.console.page.views.plan import PlanPage, plan, plan_parts
from rolecall.extensions.console.page.views.rendering import (
    ENVIRONMENT,
    Html,
    PageLayout,
    error,
    login,
)
from rolecall.extensions.console.page.views.run import (
    TASK_WINDOW,
    Before,
    RunPage,
    ordered,
    run,
    run_facts,
    stdout,
    task_details,
    task_page,
    task_rows,
)

__all__ = [
    "CR_WINDOW",
    "ENVIRONMENT",
    "LABELS",
    "MOST_RUNNING",
    "TASK_WINDOW",
    "Ask",
    "Before",
    "CrPage",
    "FleetPage",
    "Groups",
    "Html",
    "KindsPage",
    "ObjectPage",
    "OverviewPage",
    "OwnedObject",
    "OwnedTree",
    "PageLayout",
    "PlanPage",
    "Replica",
    "RunPage",
    "RunProgress",
    "Window",
    "ask",
    "ask_parts",
    "comparison",
    "cr",
    "cr_groups",
    "cr_parts",
    "crs",
    "error",
    "fleet_rows",
    "kinds",
    "login",
    "object_yaml",
    "ordered",
    "overview",
    "overview_parts",
    "patch_right",
    "plan",
    "plan_parts",
    "run",
    "run_facts",
    "stdout",
    "task_details",
    "task_page",
    "task_rows",
    "worst_first",
]
