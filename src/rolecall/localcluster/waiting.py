"""Between two looks at something outside of this process that cannot call us."""

from __future__ import annotations

import threading


def pause(seconds: float) -> None:
    """Let others work for a moment."""
    threading.Event().wait(seconds)
