"""What a test needs around an operator: a cluster, a proxy that can fail, the engine as a process.

    async with TrialCluster.opened() as trial_cluster:
        trial_cluster.install_crds(project)
        async with trial_cluster.operator(project) as (engine, proxy):
            traffic = proxy.follow(await trial_cluster.new_namespace())

Nothing here knows what is right or wrong; `proving` does.
"""

from rolecall_dev.staging.engine import CrState, TrialEngine
from rolecall_dev.staging.fault_proxy import FaultProxy
from rolecall_dev.staging.objects import (
    FOREIGN_LABEL,
    NO_LEEWAY,
    EndState,
    Leeway,
    Place,
    StateDifference,
    differences,
    end_state_of,
    leaves_of,
    leeway_between,
    object_id,
    raw_objects,
    read_end_state,
    shown_value,
)
from rolecall_dev.staging.traffic import (
    NAMESPACE_MARK,
    Fault,
    FaultKind,
    RequestMark,
    SeenRequest,
    Traffic,
)
from rolecall_dev.staging.trial_cluster import TrialCluster

__all__ = [
    "FOREIGN_LABEL",
    "NAMESPACE_MARK",
    "NO_LEEWAY",
    "CrState",
    "EndState",
    "Fault",
    "FaultKind",
    "FaultProxy",
    "Leeway",
    "Place",
    "RequestMark",
    "SeenRequest",
    "StateDifference",
    "Traffic",
    "TrialCluster",
    "TrialEngine",
    "differences",
    "end_state_of",
    "leaves_of",
    "leeway_between",
    "object_id",
    "raw_objects",
    "read_end_state",
    "shown_value",
]
