"""What runs did over the last hour and the last day, for charts: kept in memory, with a bound."""

from rolecall.extensions.console.page.trends.expected_tasks import ExpectedTasks
from rolecall.extensions.console.page.trends.model import (
    BusyRow,
    Interval,
    SeenTrends,
    TrendSpan,
)
from rolecall.extensions.console.page.trends.trends import Trends
from rolecall.extensions.console.page.trends.upkeep import TrendsUpkeep

__all__ = [
    "BusyRow",
    "ExpectedTasks",
    "Interval",
    "SeenTrends",
    "TrendSpan",
    "Trends",
    "TrendsUpkeep",
]
