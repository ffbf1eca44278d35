"""Keeps a record of each run: what it read and wrote, request by request, and which task did it."""

from rolecall.extensions.record.flags import RecordFlags

__all__ = ["RecordFlags"]
