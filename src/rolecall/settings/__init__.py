"""Every setting of the engine, and the flags of `rolecall run` that choose them."""

from rolecall.settings.flags import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind
from rolecall.settings.installed import (
    extension_flags,
    flag_groups,
    flags_of_run,
    load_point,
    refuse_twins,
)
from rolecall.settings.model import (
    ElectionSettings,
    LogSettings,
    MetricsSettings,
    ProxySettings,
    QueueSettings,
    ReactorSettings,
    RunnerSettings,
    Settings,
    ShardSettings,
    WatchSettings,
)
from rolecall.settings.table import ENGINE_FLAGS, ENGINE_GROUPS

__all__ = [
    "ENGINE_FLAGS",
    "ENGINE_GROUPS",
    "Chosen",
    "ElectionSettings",
    "ExtensionFlags",
    "Flag",
    "FlagGroup",
    "FlagKind",
    "LogSettings",
    "MetricsSettings",
    "ProxySettings",
    "QueueSettings",
    "ReactorSettings",
    "RunnerSettings",
    "Settings",
    "ShardSettings",
    "WatchSettings",
    "extension_flags",
    "flag_groups",
    "flags_of_run",
    "load_point",
    "refuse_twins",
]
