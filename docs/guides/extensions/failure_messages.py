"""Posts a message to a webhook when the runs of a custom resource have failed three times in a row."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Sequence

from rolecall.extending import EndedTurn, EngineView, Extension
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.workqueue import Key

URL_VARIABLE = "FAILURE_MESSAGES_URL"
FAILURES = 3
TIMEOUT_S = 5.0
POSTED = MetricSpec(
    "failure_messages_posted_total", MetricKind.COUNTER, (), "Messages about CRs that keep failing."
)


class FailureMessages(Extension):
    name = "failure-messages"
    metrics = (POSTED,)

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._url = engine.environment[URL_VARIABLE]
        self._failures: Counter[Key] = Counter()

    @classmethod
    def begin(cls, engine: EngineView) -> FailureMessages | None:
        return cls(engine) if engine.environment.get(URL_VARIABLE) else None

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        for turn in turns:
            key = turn.turn.key
            if not turn.outcome.is_error:
                self._failures.pop(key, None)
                continue
            self._failures[key] += 1
            if self._failures[key] == FAILURES:
                self._post(key, turn.outcome.error)

    def _post(self, key: Key, error: str) -> None:
        text = f"{key.gvk.kind} {key.namespace}/{key.name} failed {FAILURES} times: {error}"
        request = urllib.request.Request(  # noqa: S310 - the administrator names the URL
            self._url,
            json.dumps({"text": text}).encode(),
            {"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=TIMEOUT_S).close()  # noqa: S310 - as above
        self.engine.metrics.of(POSTED).inc()
