"""Who looks at the page, and what Kubernetes lets him see and do."""

from rolecall.extensions.console.page.access.limits import RateLimits, TooManyError
from rolecall.extensions.console.page.access.reader import PageReader
from rolecall.extensions.console.page.access.reviewed_client import ReviewedClient
from rolecall.extensions.console.page.access.reviews import (
    PAGE_AUDIENCE,
    AccessReviews,
    is_for_page_alone,
)
from rolecall.extensions.console.page.access.sessions import Session, Sessions
from rolecall.extensions.console.page.access.token_sessions import TokenSessions

__all__ = [
    "PAGE_AUDIENCE",
    "AccessReviews",
    "PageReader",
    "RateLimits",
    "ReviewedClient",
    "Session",
    "Sessions",
    "TokenSessions",
    "TooManyError",
    "is_for_page_alone",
]
