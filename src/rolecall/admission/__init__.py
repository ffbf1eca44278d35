"""One question of the API server about an object: a request goes in, a verdict comes out."""

from rolecall.admission.of_watches import webhooks_of
from rolecall.admission.play_answers import AnswerPorts, PlayAnswers
from rolecall.admission.ports import AdmissionAnswers, AdmissionFailedError
from rolecall.admission.slots import Slots
from rolecall.admission.webhook import Webhook

__all__ = [
    "AdmissionAnswers",
    "AdmissionFailedError",
    "AnswerPorts",
    "PlayAnswers",
    "Slots",
    "Webhook",
    "webhooks_of",
]
