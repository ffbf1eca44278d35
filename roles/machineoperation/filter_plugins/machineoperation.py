"""Filter `machineoperation_ahead`: which operations of a machine go before this one."""

from __future__ import annotations

from typing import Any

Operation = dict[str, Any]


def machineoperation_ahead(operations: list[Operation], me: Operation) -> list[str]:
    """Names of the operations that this one waits for; none means that it may go.

    One that runs goes before all that wait; those that wait go in order of creation. Two that both
    marked themselves as running in the same instant see each other afterwards: then order of creation
    decides too, so exactly one steps back.
    """
    others = [
        other
        for other in operations
        if other["spec"]["machine"] == me["spec"]["machine"]
        and other["metadata"]["uid"] != me["metadata"]["uid"]
        and "deletionTimestamp" not in other["metadata"]
        and phase_of(other) in ("Pending", "Running")
    ]
    i_run = phase_of(me) == "Running"
    return [
        other["metadata"]["name"]
        for other in sorted(others, key=_age)
        if _goes_first(other, me, i_run=i_run)
    ]


def _goes_first(other: Operation, me: Operation, *, i_run: bool) -> bool:
    if i_run:
        return phase_of(other) == "Running" and _age(other) < _age(me)
    return phase_of(other) == "Running" or _age(other) < _age(me)


def phase_of(operation: Operation) -> str:
    """The phase; an operation that nobody looked at yet is pending."""
    return str(operation.get("status", {}).get("phase", "Pending"))


def _age(operation: Operation) -> tuple[str, str]:
    metadata = operation["metadata"]
    return (metadata["creationTimestamp"], metadata["name"])


class FilterModule:
    """How Ansible finds the filter."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"machineoperation_ahead": machineoperation_ahead}
