"""Answers what the API server asks over webhooks, with a certificate that it trusts."""

from rolecall.webhooks.authority import PemPair, new_authority, new_server
from rolecall.webhooks.certificate_steps import KEYS, TRUSTED, next_content
from rolecall.webhooks.certificates import ANNOTATION, MountedCertificate, OwnCertificate
from rolecall.webhooks.conversion_review import ReviewError, answer_conversion
from rolecall.webhooks.publication import Publication
from rolecall.webhooks.reach import WebhookReach, reach_of
from rolecall.webhooks.registrations import conversion_of, not_by, registration_of
from rolecall.webhooks.routes import Asked, WebhookRoutes
from rolecall.webhooks.server import WebhookPorts, WebhookServer

__all__ = [
    "ANNOTATION",
    "KEYS",
    "TRUSTED",
    "Asked",
    "MountedCertificate",
    "OwnCertificate",
    "PemPair",
    "Publication",
    "ReviewError",
    "WebhookPorts",
    "WebhookReach",
    "WebhookRoutes",
    "WebhookServer",
    "answer_conversion",
    "conversion_of",
    "new_authority",
    "new_server",
    "next_content",
    "not_by",
    "reach_of",
    "registration_of",
]
