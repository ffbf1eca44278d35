"""The plays' door to the API server: a credential per run, an owner on everything that is created.

`Proxy.lease` hands out kubeconfigs (`reconcile` asks for them); whoever follows dependents implements
`DependentSink` and is told what plays make.
"""

from rolecall.proxy.dependents import DependentSink
from rolecall.proxy.owners import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION
from rolecall.proxy.server import Proxy

__all__ = ["OWNER_ANNOTATION", "OWNER_TYPE_ANNOTATION", "DependentSink", "Proxy"]
