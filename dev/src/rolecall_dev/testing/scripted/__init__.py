"""Plays that are Python functions: a runner whose runs send real requests, without Ansible."""

from rolecall_dev.testing.scripted.play import Script, ScriptedPlay
from rolecall_dev.testing.scripted.requests import ProxyAnswer, RequestFailed
from rolecall_dev.testing.scripted.run import ScriptedRun, ScriptedTask, TaskFailed

__all__ = [
    "ProxyAnswer",
    "RequestFailed",
    "Script",
    "ScriptedPlay",
    "ScriptedRun",
    "ScriptedTask",
    "TaskFailed",
]
