"""Holds a Lease, or makes sure that nothing is written; the only room that touches Leases."""

from rolecall.acting import acting_for, current_hand
from rolecall.election.division import Division
from rolecall.election.fence import FencedClient
from rolecall.election.lease import Election, LeaseApi, LeaseElection
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

__all__ = [
    "LEASE",
    "Division",
    "Election",
    "FencedClient",
    "LeaseApi",
    "LeaseElection",
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
