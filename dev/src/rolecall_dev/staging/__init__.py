"""What a test needs around an operator: a cluster, a proxy that can fail, the engine as a process.

    async with Stage.opened() as stage:
        stage.install_crds(project)
        async with stage.operator(project) as (engine, proxy):
            traffic = proxy.follow(await stage.new_namespace())

Nothing here knows what is right or wrong; `proving` does.
"""

from rolecall_dev.staging.effects import MISSING, Leaves, leaves_of, shown
from rolecall_dev.staging.engine import CrState, StagedEngine
from rolecall_dev.staging.fault_proxy import FaultProxy
from rolecall_dev.staging.faults import Fault, FaultKind
from rolecall_dev.staging.objects import (
    FOREIGN_LABEL,
    NO_LEEWAY,
    Difference,
    EndState,
    Leeway,
    Place,
    differences,
    end_state_of,
    id_of,
    leeway_between,
    raw_objects,
    read_end_state,
)
from rolecall_dev.staging.seen_request import RequestMark, SeenRequest
from rolecall_dev.staging.stage import Stage
from rolecall_dev.staging.traffic import NAMESPACE_MARK, Traffic

__all__ = [
    "FOREIGN_LABEL",
    "MISSING",
    "NAMESPACE_MARK",
    "NO_LEEWAY",
    "CrState",
    "Difference",
    "EndState",
    "Fault",
    "FaultKind",
    "FaultProxy",
    "Leaves",
    "Leeway",
    "Place",
    "RequestMark",
    "SeenRequest",
    "Stage",
    "StagedEngine",
    "Traffic",
    "differences",
    "end_state_of",
    "id_of",
    "leaves_of",
    "leeway_between",
    "raw_objects",
    "read_end_state",
    "shown",
]
