"""Finds the operator of a cluster and runs our own command in the pod of its leader."""

from rolecall.remote_engine.operators import (
    ENGINE_LABEL,
    EnginePod,
    NoOperatorError,
    Operator,
    find_operator,
    leading_pod,
)
from rolecall.remote_engine.pod_relay import TakeOutput, run_there

__all__ = [
    "ENGINE_LABEL",
    "EnginePod",
    "NoOperatorError",
    "Operator",
    "TakeOutput",
    "find_operator",
    "leading_pod",
    "run_there",
]
