"""What runs cost, by CR: a small ledger beside the artifacts, which outlives them and the process."""

from rolecall.usage.ledger import MOST_DAYS, USAGE_FOLDER, UsageLedger, read_usage
from rolecall.usage.model import CrOfRuns, Usage
from rolecall.usage.sums import Grouping, UsageRow, total_of, usage_by

__all__ = [
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
