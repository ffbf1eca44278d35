"""A page to look at: what the operator does, now and before; with the rights that Kubernetes gives."""

from rolecall.extensions.console.page.access import PAGE_AUDIENCE
from rolecall.extensions.console.page.cr_planner import CrPlanner
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.server import OperatorPage

__all__ = ["PAGE_AUDIENCE", "CrPlanner", "OperatorPage", "PagePorts"]
