"""Who looks at the page, and what Kubernetes lets him see and do."""

from rolecall.page.access.limits import RateLimits, TooManyError
from rolecall.page.access.reader import PageReader
from rolecall.page.access.reviews import AccessReviews
from rolecall.page.access.sessions import Session, Sessions

__all__ = ["AccessReviews", "PageReader", "RateLimits", "Session", "Sessions", "TooManyError"]
