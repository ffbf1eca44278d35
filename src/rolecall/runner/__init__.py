"""Runs a role or playbook once and returns a `RunResult`; the only room that knows Ansible."""

from rolecall.runner.choice import create_runner
from rolecall.runner.contract import (
    Ending,
    OnEvent,
    Recap,
    RunEvent,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
    TaskFailure,
)
from rolecall.runner.folders import forget, forget_missing
from rolecall.runner.params import extra_vars, snake_case
from rolecall.runner.readable import as_json, as_yaml
from rolecall.runner.temporary import folder_of_engine

__all__ = [
    "Ending",
    "OnEvent",
    "Recap",
    "RunEvent",
    "RunHandle",
    "RunRequest",
    "RunResult",
    "Runner",
    "TaskFailure",
    "as_json",
    "as_yaml",
    "create_runner",
    "extra_vars",
    "folder_of_engine",
    "forget",
    "forget_missing",
    "snake_case",
]
