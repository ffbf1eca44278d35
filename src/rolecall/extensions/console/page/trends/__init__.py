"""What runs did over the last hour and the last day, for charts: kept in memory, with a bound."""

from rolecall.extensions.console.page.trends.model import (
    BusyRow,
    Interval,
    SeenTrends,
    Span,
)
from rolecall.extensions.console.page.trends.trends import KeptTurn, Trends

__all__ = ["BusyRow", "Interval", "KeptTurn", "SeenTrends", "Span", "Trends"]
