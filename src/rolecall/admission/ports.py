"""What the webhook server asks of whoever answers for admission; `app.py` connects the two."""

from __future__ import annotations

from typing import Protocol

from rolecall.admission.webhook import Webhook
from rolecall.errors import RolecallError
from rolecall.json_object import Json


class AdmissionFailedError(RolecallError):
    """No verdict came about: HTTP 500 with this text, so that `failurePolicy` decides."""


class AdmissionAnswers(Protocol):
    async def answer(self, webhook: Webhook, review: Json) -> Json:
        """The `AdmissionReview` with its `response`; raises `AdmissionFailedError` where there is none.

        The review was looked at: it is of `admission.k8s.io/v1`, its `request` is a map with a `uid`,
        and it is not from the operator's own user, which is let through without being asked about.
        """
