"""The plays' way to the API server: a credential for each run, an owner on everything that is created.

`Proxy.issue_access` hands out kubeconfigs; a follower of dependents implements `DependentSink`.
"""

from rolecall.proxy.dependent_finder import DependentSink
from rolecall.proxy.following import AskedExchange, ExchangeFollower, FollowRun, RunFollower
from rolecall.proxy.identity import Owner
from rolecall.proxy.owners import names_owner, owner_patch, tie_for
from rolecall.proxy.protobuf import object_in_protobuf
from rolecall.proxy.read_only import is_review
from rolecall.proxy.request_info import RequestInfo, parse_request_info
from rolecall.proxy.server import ProcessAccess, Proxy
from rolecall.proxy.worlds import ApiServer, PlayRequest, Said, World

__all__ = [
    "ApiServer",
    "AskedExchange",
    "DependentSink",
    "ExchangeFollower",
    "FollowRun",
    "Owner",
    "PlayRequest",
    "ProcessAccess",
    "Proxy",
    "RequestInfo",
    "RunFollower",
    "Said",
    "World",
    "is_review",
    "names_owner",
    "object_in_protobuf",
    "owner_patch",
    "parse_request_info",
    "tie_for",
]
