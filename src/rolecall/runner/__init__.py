"""Runs a role or playbook once and returns a `RunResult`; the only room that knows Ansible."""

from rolecall.runner.choice import create_runner
from rolecall.runner.contract import (
    Ending,
    EngineRunner,
    MakeRunner,
    OnEvent,
    OnWarmSupport,
    PlayReader,
    PlayTerms,
    Recap,
    RunEvent,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
    RunSlot,
    TaskFailure,
    WarmState,
    WarmSupport,
)
from rolecall.runner.events import TaskEvent
from rolecall.runner.followed import FollowedRuns, PlayProcess, Reports, StartWay
from rolecall.runner.inputs import BUNDLED_COLLECTIONS, PreparedRun
from rolecall.runner.installed import (
    find_collection,
    require_installed,
    version_of,
    why_stock,
)
from rolecall.runner.needed_verbs import VERBS_OF_STATE
from rolecall.runner.own_names import OwnNames
from rolecall.runner.params import Unsafe, cr_variable, extra_vars, snake_case
from rolecall.runner.porting import broken_conditionals
from rolecall.runner.project_files import BESIDE_A_PLAYBOOK, configuration_of, inputs_of
from rolecall.runner.roots import claimed_beside_crs, claimed_root, cluster_of, forget
from rolecall.runner.run_file import outcome_of
from rolecall.runner.run_task import RunThread, in_thread
from rolecall.runner.secrets import Redactor
from rolecall.runner.spec_keys import NOTHING_WITHHELD, SpecKeys, WithheldKeys, declared_in
from rolecall.runner.temporary import folder_of_command, folder_of_engine
from rolecall.runner.terms import terms_of

__all__ = [
    "BESIDE_A_PLAYBOOK",
    "BUNDLED_COLLECTIONS",
    "NOTHING_WITHHELD",
    "VERBS_OF_STATE",
    "Ending",
    "EngineRunner",
    "FollowedRuns",
    "MakeRunner",
    "OnEvent",
    "OnWarmSupport",
    "OwnNames",
    "PlayProcess",
    "PlayReader",
    "PlayTerms",
    "PreparedRun",
    "Recap",
    "Redactor",
    "Reports",
    "RunEvent",
    "RunHandle",
    "RunRequest",
    "RunResult",
    "RunSlot",
    "RunThread",
    "Runner",
    "SpecKeys",
    "StartWay",
    "TaskEvent",
    "TaskFailure",
    "Unsafe",
    "WarmState",
    "WarmSupport",
    "WithheldKeys",
    "broken_conditionals",
    "claimed_beside_crs",
    "claimed_root",
    "cluster_of",
    "configuration_of",
    "cr_variable",
    "create_runner",
    "declared_in",
    "extra_vars",
    "find_collection",
    "folder_of_command",
    "folder_of_engine",
    "forget",
    "in_thread",
    "inputs_of",
    "outcome_of",
    "require_installed",
    "snake_case",
    "terms_of",
    "version_of",
    "why_stock",
]
