"""What a page shows, as HTML: values in, text out. Nothing here asks or reads."""

from rolecall.extensions.console.page.views import places
from rolecall.extensions.console.page.views.cr import CrPage, OwnedObject, cr, cr_parts
from rolecall.extensions.console.page.views.crs import CR_WINDOW, Window, cr_rows, crs
from rolecall.extensions.console.page.views.html import Html, el
from rolecall.extensions.console.page.views.layout import PageLayout
from rolecall.extensions.console.page.views.overview import Replica, overview, overview_parts
from rolecall.extensions.console.page.views.plain_pages import error, login
from rolecall.extensions.console.page.views.run import (
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
    "CrPage",
    "Html",
    "OwnedObject",
    "PageLayout",
    "Replica",
    "RunPage",
    "Window",
    "comparison",
    "cr",
    "cr_parts",
    "cr_rows",
    "crs",
    "el",
    "error",
    "login",
    "ordered",
    "overview",
    "overview_parts",
    "places",
    "run",
    "run_facts",
    "stdout",
    "task_details",
    "task_page",
    "task_rows",
]
