"""The filter of certificates, by itself: only those who use it need the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.rolecall.operator.plugins.plugin_utils.certificates import certificates


class FilterModule:
    """As Ansible finds it."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """By its short name."""
        return {"certificates": certificates}
