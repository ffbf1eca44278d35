"""The filters of this collection; what they compute is in plugin_utils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.rolecall.operator.plugins.plugin_utils.failure import why_failed
from ansible_collections.rolecall.operator.plugins.plugin_utils.objects import (
    changed,
    foreign,
    is_ours,
    labelled,
)
from ansible_collections.rolecall.operator.plugins.plugin_utils.pods import is_ready, why_not_ready
from ansible_collections.rolecall.operator.plugins.plugin_utils.quantity import quantity
from ansible_collections.rolecall.operator.plugins.plugin_utils.versions import version_sort


def _in_words(compute: Callable[..., Any]) -> Callable[..., Any]:
    def filtered(*values: Any) -> Any:
        try:
            return compute(*values)
        except ValueError as error:
            raise AnsibleFilterError(str(error)) from error

    return filtered


class FilterModule:
    """As Ansible finds them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """By their short names."""
        return {
            each.__name__: _in_words(each)
            for each in (
                *(changed, foreign, is_ours, is_ready, labelled, quantity),
                *(version_sort, why_failed, why_not_ready),
            )
        }
