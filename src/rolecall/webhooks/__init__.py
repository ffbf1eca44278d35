"""Answers what the API server asks over webhooks: conversions of custom resources."""

from rolecall.webhooks.authority import KeyPair, new_authority, new_server
from rolecall.webhooks.conversion_review import ReviewError, answer_conversion
from rolecall.webhooks.server import webhooks_app

__all__ = [
    "KeyPair",
    "ReviewError",
    "answer_conversion",
    "new_authority",
    "new_server",
    "webhooks_app",
]
