"""Who looks at the page, and what Kubernetes lets him see and do."""

from rolecall.page.access.limits import Limits, TooManyError
from rolecall.page.access.reader import Reader
from rolecall.page.access.reviews import Reviews
from rolecall.page.access.sessions import Session, Sessions

__all__ = ["Limits", "Reader", "Reviews", "Session", "Sessions", "TooManyError"]
