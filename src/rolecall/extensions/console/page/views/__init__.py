"""What a page shows, as HTML: values in, text out. Nothing here asks or reads."""

from rolecall.extensions.console.page.views.cr import CrPage, OwnedObject, cr, cr_parts
from rolecall.extensions.console.page.views.fleet import (
    CR_WINDOW,
    Fleet,
    Groups,
    Window,
    cr_groups,
    cr_rows,
    crs,
)
from rolecall.extensions.console.page.views.overview import Replica, overview, overview_parts
from rolecall.extensions.console.page.views.rendering import (
    ENVIRONMENT,
    Html,
    PageLayout,
    error,
    login,
)
from rolecall.extensions.console.page.views.run import (
    TASK_WINDOW,
    RunPage,
    comparison,
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
    "TASK_WINDOW",
    "CrPage",
    "Fleet",
    "Groups",
    "Html",
    "OwnedObject",
    "PageLayout",
    "Replica",
    "RunPage",
    "Window",
    "comparison",
    "cr",
    "cr_groups",
    "cr_parts",
    "cr_rows",
    "crs",
    "error",
    "login",
    "ordered",
    "overview",
    "overview_parts",
    "run",
    "run_facts",
    "stdout",
    "task_details",
    "task_page",
    "task_rows",
]
