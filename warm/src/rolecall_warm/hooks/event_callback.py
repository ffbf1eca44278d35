"""ansible-runner's event callback, imported once and let loose in each run when Ansible would load it.

`awx_display` changes Display when it is imported, and from then on every word is an event. In a new
process that is when the play's callbacks are loaded, so what Ansible says before (its version, broken
YAML) are no events. The host imports it early; its changes are therefore taken off again, and put on in
the run child at the right moment. Its target folder and its lock are renewed for each run.

What an event says goes to the engine as a report, before its words are printed; a long one by the file
that ansible-runner has for it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from ansible.utils.display import Display

from rolecall_base import wire
from rolecall_base.wire import AT_S

_NAMES = ("default", "awx_display")
# What is renewed below; ansible-runner's own affair, so checked.
_PARTS = ("cache", "display_lock", "_local")


class _Reports:
    """Stands in front of ansible-runner's writer of files."""

    def __init__(self, files: Any, sock: socket.socket, encoder: type[json.JSONEncoder]) -> None:
        self._files, self._sock, self._encoder = files, sock, encoder

    def set(self, key: str, event: dict[str, Any]) -> None:
        message = {"r": "event", AT_S: time.monotonic(), **event}
        report = json.dumps(message, cls=self._encoder).encode()
        if len(report) <= wire.LONGEST_REPORT:
            try:
                self._sock.send(report)
            except OSError:  # no memory for it; or the engine is gone, which the tally finds out
                pass
            else:
                return
        self._files.set(key, event)


class EventCallback:
    """The callback's hold on a process."""

    def __init__(self, module: Any, methods: dict[str, Any]) -> None:
        self.context = module.event_context
        self._module = module
        self._methods = methods

    @classmethod
    def load(cls, loader: Any) -> EventCallback:
        """Import it, and take its changes off Display."""
        before = dict(vars(Display))
        for name in _NAMES:
            loader.callback_loader.get(name, class_only=True)
        after = dict(vars(Display))
        changed = {name: value for name, value in after.items() if before.get(name) is not value}
        for name in changed:
            if name in before:
                setattr(Display, name, before[name])
            else:
                delattr(Display, name)
        return cls(_find_module(), changed)

    def renew(self) -> None:
        """Aim it at this run; after Display was renewed."""
        self.context.display_lock = Display()._lock
        self.context.cache.private_data_dir = os.environ.get("AWX_ISOLATED_DATA_DIR")

    def report_to(self, sock: socket.socket) -> None:
        """From now on, the reports of this run bring events to the engine."""
        encoder = self._module.AnsibleJSONEncoderLocal
        self.context.cache = _Reports(self.context.cache, sock, encoder)

    def load_callbacks(self, original: Callable[..., None], queue_manager: Any) -> None:
        """The stand-in for `TaskQueueManager.load_callbacks`: from now on every word is an event."""
        if not queue_manager._callback_plugins:
            self._change_display()
        original(queue_manager)

    def _change_display(self) -> None:
        # As its import does, which leaves the options of the callback that it stands on.
        self._module.callback_loader.get(self._module.default_stdout_callback, class_only=True)
        for name, method in self._methods.items():
            setattr(Display, name, method)


def _find_module() -> Any:
    for module in list(sys.modules.values()):
        context = getattr(module, "event_context", None)
        if context is not None and hasattr(module, "AnsibleJSONEncoderLocal"):
            if all(hasattr(context, name) for name in _PARTS):
                return module
            break
    raise RuntimeError("ansible-runner's event callback is not one that we know")
