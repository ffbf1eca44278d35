"""Handlers of kopf beside roles; what a file of handlers may import is here.

from rolecall.extensions.handlers import on_run_ended, reconcile
"""

from rolecall.extensions.handlers.api import on_run_ended, reconcile

__all__ = ["on_run_ended", "reconcile"]
