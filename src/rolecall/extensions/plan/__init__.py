"""CRs that are only observed: plans instead of runs, after each period."""

from rolecall.extensions.plan.keys import MODE_ANNOTATION, PlanKeys

__all__ = ["MODE_ANNOTATION", "PlanKeys"]
