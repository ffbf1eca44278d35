"""Typed calls to the API server: read, write, list, watch, discovery; errors by meaning.

The only room, with the proxy and the metrics endpoint, that speaks HTTP. Give a `Client` what
`Credentials.load(...)` found, and it keeps logged in by itself.
"""

from rolecall.kube.client import Client
from rolecall.kube.credentials import Access, Credentials
from rolecall.kube.discovery import Discovery
from rolecall.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    CredentialsError,
    ForbiddenError,
    GoneError,
    NoSuchKindError,
    NotFoundError,
    Target,
    UnauthorizedError,
    UnavailableError,
    UnprocessableError,
)
from rolecall.kube.lending import Exchange, Loan, lend_session
from rolecall.kube.lists import Page
from rolecall.kube.resource import Resource
from rolecall.kube.streams import WatchEvent
from rolecall.kube.transport import Timeouts

__all__ = [
    "Access",
    "AlreadyExistsError",
    "ApiError",
    "Client",
    "ConflictError",
    "Credentials",
    "CredentialsError",
    "Discovery",
    "Exchange",
    "ForbiddenError",
    "GoneError",
    "Loan",
    "NoSuchKindError",
    "NotFoundError",
    "Page",
    "Resource",
    "Target",
    "Timeouts",
    "UnauthorizedError",
    "UnavailableError",
    "UnprocessableError",
    "WatchEvent",
    "lend_session",
]
