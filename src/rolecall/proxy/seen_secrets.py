"""The Secrets and tokens that a run was answered with, so that their values are masked in its output.

Promise: what a request was answered with is here before the play has the answer. So a value is known
even where no event of the play ever shows its Secret: a lookup, or a program, read it and handed on no
more than the password.

Not seen is what passes piece by piece (more than `SHORT_SECRETS`, watches) or is not JSON (protobuf,
which helm asks for): there, a task's result must show the Secret.
"""

from __future__ import annotations

import json
from collections import deque

from rolecall.json_object import Json, as_map
from rolecall.proxy.request_info import RequestInfo


class SeenSecrets:
    """Those of one run; noted on the loop, taken by the run's thread."""

    def __init__(self) -> None:
        self._seen: deque[Json] = deque()

    def note(self, info: RequestInfo, answer: object) -> None:
        """Look at an answer, if the request was about Secrets."""
        if not info.is_about_secrets or not isinstance(answer, bytes):
            return
        try:
            document = as_map(json.loads(answer))
        except (ValueError, RecursionError):
            return
        if info.is_token_request:
            token = as_map(document.get("status")).get("token")
            self._seen.append({"kind": "Secret", "stringData": {"token": token}})
            return
        items = document.get("items")
        for found in items if isinstance(items, list) else [document]:
            # Items of a list do not say what they are.
            self._seen.append({**as_map(found), "kind": "Secret"})

    def take(self) -> list[Json]:
        """What was seen since this was called last."""
        return [self._seen.popleft() for _ in range(len(self._seen))]
