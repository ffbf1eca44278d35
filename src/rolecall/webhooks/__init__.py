"""What watches.yaml says of webhooks, and what is registered of them at the API server."""

from rolecall.webhooks.read import Admission, AdmissionKeys, AdmissionRule, validation_of
from rolecall.webhooks.registrations import (
    CONVERT_PATH,
    NoVerdictError,
    Webhook,
    conversion_of,
    not_by,
    registration_of,
    webhooks_of,
    without_nulls,
)

__all__ = [
    "CONVERT_PATH",
    "Admission",
    "AdmissionKeys",
    "AdmissionRule",
    "NoVerdictError",
    "Webhook",
    "conversion_of",
    "not_by",
    "registration_of",
    "validation_of",
    "webhooks_of",
    "without_nulls",
]
