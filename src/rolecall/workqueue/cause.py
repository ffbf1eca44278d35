"""Why a key waits, in words for people.

Urgency says how soon a key is taken and nothing more; this says what happened. It is carried along, and
the queue decides nothing by it; `changed_files` knows by it the runs that it asked for itself.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """What happened, as people read it: in the log, in `rolecall runs`, in `rolecall status`."""

    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def retry(cls, number: int) -> Cause:
        """The attempt after so many failures in a row."""
        return cls(f"retry {number}")


UNREPORTED = Cause("")
CREATION = Cause("creation")
EDIT = Cause("edit")
DELETION = Cause("deletion")
PAUSING = Cause("pause")
RESUMED = Cause("resumed")
PERIOD = Cause("period")
START = Cause("start")
SET_BACK = Cause("the store was set back")
ROLE = Cause("the role asked for it")
PERSON = Cause("asked for by a person")
