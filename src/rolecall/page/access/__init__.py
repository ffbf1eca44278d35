"""Who looks at the page, and what Kubernetes lets him see and do."""

from rolecall.page.access.limits import RateLimits, TooManyError
from rolecall.page.access.reader import PageReader
from rolecall.page.access.reviewed_client import ReviewedClient
from rolecall.page.access.reviews import PAGE_AUDIENCE, AccessReviews, is_for_page_alone
from rolecall.page.access.sessions import Session, Sessions
from rolecall.page.access.token_sessions import TokenSessions

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
