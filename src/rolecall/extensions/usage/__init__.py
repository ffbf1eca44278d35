"""What runs cost, by CR: metrics, and a small ledger beside the artifacts, which outlives them."""

from rolecall.cli import CommandModule, Purpose
from rolecall.extensions.usage.ledger import MOST_DAYS, USAGE_FOLDER, UsageLedger, read_usage
from rolecall.extensions.usage.model import CrOfRuns, Usage
from rolecall.extensions.usage.sums import Grouping, UsageRow, total_of, usage_by

COMMANDS = {
    "usage": CommandModule(
        f"{__name__}.command", "what runs cost, by namespace, kind or CR", Purpose.LOOK
    )
}

__all__ = [
    "COMMANDS",
    "MOST_DAYS",
    "USAGE_FOLDER",
    "CrOfRuns",
    "Grouping",
    "Usage",
    "UsageLedger",
    "UsageRow",
    "read_usage",
    "total_of",
    "usage_by",
]
