"""Keeps a record of each run: what it read and wrote, request by request, and which task did it."""

from rolecall.extensions.record.notes import MOST_REQUESTS, RequestNote, RunNotes
from rolecall.extensions.record.packed import PackedRequests

__all__ = ["MOST_REQUESTS", "PackedRequests", "RequestNote", "RunNotes"]
