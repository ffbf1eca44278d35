"""The plays' way to the API server: a credential for each run, an owner on everything that is created.

`Proxy.issue_access` hands out kubeconfigs; whoever follows dependents implements `DependentSink`.
"""

from rolecall.proxy.dependent_finder import DependentSink
from rolecall.proxy.server import Proxy

__all__ = ["DependentSink", "Proxy"]
