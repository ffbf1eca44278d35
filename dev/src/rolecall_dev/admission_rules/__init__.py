"""Turns `validate.rules` of watches.yaml into what the API server checks by itself."""

from rolecall_dev.admission_rules.rules import policies_of, with_rules

__all__ = ["policies_of", "with_rules"]
