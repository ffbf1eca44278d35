"""Makes a fork of the host look like an `ansible-playbook` that was just started.

Ansible reads much at import and keeps more in module globals. What may differ between two runs of one
host is set here, for each run: environment, folder, streams, the settings that `fingerprint` lets
differ, ids, temporary folder, Display's memory, the event callback's target.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import random
import sys
import tempfile
import threading
from typing import Any

import ansible.constants as C  # noqa: N812 - its name everywhere in Ansible
from ansible.utils import display as display_module
from ansible.utils import vars as ansible_vars
from ansible.utils.display import Display

from rolecall_base.variables import PER_RUN_SETTINGS
from rolecall_warm.hooks.client_memory import renew_client
from rolecall_warm.hooks.streams import StreamSettings


def take_environment(environment: dict[str, str], cwd: str) -> None:
    """The run's environment and folder, and nothing of the host's."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    tempfile.tempdir = None


def take_streams(stdin: int, output: int, streams: StreamSettings) -> None:
    """Descriptors and Python's streams, as a new interpreter has them."""
    os.dup2(stdin, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    streams.open_all(events_in_one_piece=True)


def renew_globals() -> None:
    """Everything that a new process would have new."""
    atexit._clear()
    renew_client()
    atexit.register(multiprocessing.util._exit_function)  # type: ignore[attr-defined]
    random.seed()
    # Task and play uuids begin with it; inherited, they would repeat in every run.
    ansible_vars.random_int = f"{random.SystemRandom().getrandbits(32):08x}"
    for keeper, kept in (
        (ansible_vars.load_extra_vars, "extra_vars"),
        (ansible_vars.load_options_vars, "options_vars"),
    ):
        # Kept for the life of a process; nothing should be there, and nothing may.
        vars(keeper).pop(kept, None)
    for setting in PER_RUN_SETTINGS:
        # Making DEFAULT_LOCAL_TMP anew also makes the folder and registers its removal.
        setattr(C, setting, C.config.get_config_value(setting, variables=vars(C)))
    _renew_display()


def _renew_display() -> None:
    display: Any = Display()
    display._lock = threading.RLock()
    display._final_q = None
    display._set_column_width()
    display_module._synchronize_textiowrapper(sys.stdout, display._lock)
    display_module._synchronize_textiowrapper(sys.stderr, display._lock)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="_replacing_warning_handler")  # type: ignore[union-attr]
