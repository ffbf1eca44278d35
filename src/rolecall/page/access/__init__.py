"""Who looks at the page, and what Kubernetes lets him see and do."""

from rolecall.page.access.limits import RateLimits, TooManyError
from rolecall.page.access.reader import PageReader
from rolecall.page.access.reviews import AccessReviews
from rolecall.page.access.sessions import Session, Sessions
from rolecall.page.access.token_sessions import TokenSessions

__all__ = [
    "AccessReviews",
    "PageReader",
    "RateLimits",
    "Session",
    "Sessions",
    "TokenSessions",
    "TooManyError",
]
