"""Which replica works on which keys, and a fence around what others may write; touches Leases."""

from rolecall.acting import acting_for, current_hand
from rolecall.election.division import Division, KeyDivision, SeenMember, SeenMembers
from rolecall.election.fence import FencedClient
from rolecall.election.lease import LeaseApi, LeaseElection
from rolecall.election.owned_keys import OwnedKeys
from rolecall.election.record import (
    LEASE,
    duration_of,
    holder_of,
    is_released,
    new_lease,
    released,
    renewed,
    taken,
)
from rolecall.election.slot import (
    Election,
    EngineWork,
    IsMeant,
    KeptParts,
    RemembersKeys,
    Runs,
    SelectedCr,
)

__all__ = [
    "LEASE",
    "Division",
    "Election",
    "EngineWork",
    "FencedClient",
    "IsMeant",
    "KeptParts",
    "KeyDivision",
    "LeaseApi",
    "LeaseElection",
    "OwnedKeys",
    "RemembersKeys",
    "Runs",
    "SeenMember",
    "SeenMembers",
    "SelectedCr",
    "acting_for",
    "current_hand",
    "duration_of",
    "holder_of",
    "is_released",
    "new_lease",
    "released",
    "renewed",
    "taken",
]
