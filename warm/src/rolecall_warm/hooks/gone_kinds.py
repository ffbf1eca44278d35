"""Has kubernetes.core look again where a kind that was discovered earlier is no longer served.

A file of discovery says what was served minutes ago, and kubernetes.core reads the server anew only
for a kind that is missing in it. Of one whose CRD was removed since, each request gets `404 page not
found`, and that counts as an object that is not there: `k8s_info` says `api_found: true` and finds
nothing, and roles then create what cannot be created, run after run. Here such an answer to a read has
the discovery made anew, and `k8s_info` asks once more: then it says `api_found: false`, as of every
kind that is not served. Other modules come to the same end as before, and the next task does not.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import Any

_COLLECTION = "ansible_collections.kubernetes.core.plugins.module_utils.k8s"
# Discovery that is made anew gets each document from the proxy's memory once, at most.
_MOST_LOOKS = 3
_MARK = "rolecall_met_gone_kind"


def look_again_for_gone_kinds() -> None:
    """Stand in front of the collection's functions; does nothing where it is not installed."""
    client: Any = sys.modules.get(f"{_COLLECTION}.client")
    service: Any = sys.modules.get(f"{_COLLECTION}.service")
    if hasattr(client, "K8SClient") and hasattr(service, "K8sService"):
        client.K8SClient.get = noticing(client.K8SClient.get)
        service.K8sService.find = looking_again(service.K8sService.find)


def noticing(get: Callable[..., Any]) -> Callable[..., Any]:
    """`K8SClient.get`, which drops a kind from the client's memory once the server says it is gone."""

    @functools.wraps(get)
    def function(self: Any, resource: Any, **params: Any) -> Any:
        try:
            return get(self, resource, **params)
        except Exception as error:
            if is_about_the_kind(error):
                self.resources.invalidate_cache()
                setattr(self, _MARK, True)
            raise

    return function


def looking_again(find: Callable[..., Any]) -> Callable[..., Any]:
    """`K8sService.find`, once more when it met such a kind."""

    @functools.wraps(find)
    def function(self: Any, *args: Any, **named: Any) -> Any:
        for _ in range(_MOST_LOOKS - 1):
            setattr(self.client, _MARK, False)
            try:
                found = find(self, *args, **named)
            except Exception:
                if not getattr(self.client, _MARK):
                    raise
            else:
                if not getattr(self.client, _MARK):
                    return found
        return find(self, *args, **named)

    return function


def is_about_the_kind(error: Any) -> bool:
    """Whether a 404 says that nothing is served at this path: an object's is a Status, in JSON."""
    if getattr(error, "status", None) != 404:
        return False
    try:
        return "kind" not in json.loads(error.body)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return True
