"""Finds the operator of a cluster and runs our own command in the pod that can answer it."""

from rolecall.remote_engine.operators import (
    ENGINE_LABEL,
    EnginePod,
    NoOperatorError,
    Operator,
    PodChoice,
    ShardAsked,
    any_shard,
    choose_pod,
    find_operator,
)
from rolecall.remote_engine.pod_relay import TakeOutput, run_there
from rolecall.remote_engine.verification import UnverifiedPodError, verify_pod

__all__ = [
    "ENGINE_LABEL",
    "EnginePod",
    "NoOperatorError",
    "Operator",
    "PodChoice",
    "ShardAsked",
    "TakeOutput",
    "UnverifiedPodError",
    "any_shard",
    "choose_pod",
    "find_operator",
    "run_there",
    "verify_pod",
]
