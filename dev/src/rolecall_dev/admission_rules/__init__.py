"""Turns `validate.rules` of watches.yaml into what the API server checks by itself."""

from rolecall_dev.admission_rules.crd_rules import with_rules
from rolecall_dev.admission_rules.policies import policies_of

__all__ = ["policies_of", "with_rules"]
