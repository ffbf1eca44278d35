"""Stands in for the queue between a worker and its play: delivers at once, as copies."""

from __future__ import annotations

import abc
import contextvars
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")
# Does something with what the play's result thread sees: its streams, and thread-locals of its own.
AsResultThread = Callable[[Callable[[], object]], None]


def as_sent(thing: _T) -> _T:
    """A copy, as it would come out of a pipe; raises what pickling raises."""
    copy: _T = pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own bytes
    return copy


class ResultQueue(abc.ABC):
    """As much of ansible-core's `FinalQueue` as a task touches; results differ by release."""

    def __init__(self, strategy: Any, as_result_thread: AsResultThread) -> None:
        self.strategy = strategy
        self.as_result_thread = as_result_thread

    @abc.abstractmethod
    def send_callback(self, method_name: str, *args: Any, **kwargs: Any) -> None:
        """Call the callbacks, as the play's result thread does."""

    @abc.abstractmethod
    def send_task_result(self, *args: Any, **kwargs: Any) -> None:
        """Lay the result where the strategy looks for it."""

    def send_display(self, method: str, *args: Any, **kwargs: Any) -> None:
        """Display in the play's name."""
        args, kwargs = as_sent((args, kwargs))
        self.call_alone(lambda: getattr(self.strategy._display, method)(*args, **kwargs))

    def send_prompt(self, **_kwargs: Any) -> None:
        """Actions that ask are never run inline."""
        raise NotImplementedError("an inline task asked for input")

    def call_alone(self, act: Callable[[], object]) -> None:
        """Do what the play's result thread does, which knows nothing of the task under way."""
        self.as_result_thread(lambda: contextvars.Context().run(act))

    def lay_down(self, arrive: Callable[[], object]) -> None:
        """Put a result where the strategy looks for it, as it arrives there."""
        result = contextvars.Context().run(arrive)
        with self.strategy._results_lock:
            self.strategy._results.append(result)
