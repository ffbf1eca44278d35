"""A page to look at: what the operator does, now and before; with the rights that Kubernetes gives."""

from rolecall.page.access import PAGE_AUDIENCE
from rolecall.page.forwarder import Authorization, PageForwarder
from rolecall.page.ports import PagePorts
from rolecall.page.server import OperatorPage

__all__ = ["PAGE_AUDIENCE", "Authorization", "OperatorPage", "PageForwarder", "PagePorts"]
