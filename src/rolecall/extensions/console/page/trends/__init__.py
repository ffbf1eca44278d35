"""What runs did over the last hour and the last day, for charts: kept in memory, with a bound."""

from rolecall.extensions.console.page.trends.model import (
    BusyRow,
    Interval,
    SeenTrends,
    Span,
)

__all__ = ["BusyRow", "Interval", "SeenTrends", "Span"]
