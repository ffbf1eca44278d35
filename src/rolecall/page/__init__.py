"""A page to look at: what the operator does, now and before; with the rights that Kubernetes gives."""

from rolecall.page.forwarder import Authorization, Forwarder
from rolecall.page.ports import PagePorts
from rolecall.page.server import Page

__all__ = ["Authorization", "Forwarder", "Page", "PagePorts"]
