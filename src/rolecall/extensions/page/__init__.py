"""A page to look at: what the operator does, now and before; with the rights that Kubernetes gives."""

from rolecall.cli import CommandModule, Purpose

PAGE_COMMANDS = {
    "page": CommandModule(
        f"{__name__}.command", "open the page of the operator in a cluster", Purpose.LOOK
    )
}

__all__ = ["PAGE_COMMANDS"]
