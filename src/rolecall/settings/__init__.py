"""Every setting of the engine, the flags of `rolecall run`, and what the machine grants."""

from rolecall.settings.capacity import (
    ENGINE_BYTES,
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    Capacity,
    read_capacity,
    runs_within,
    waiting_within,
)
from rolecall.settings.flags import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind
from rolecall.settings.installed import (
    extension_flags,
    flag_groups,
    flags_of_run,
    known_flags,
    load_class,
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
    WatchSettings,
)
from rolecall.settings.table import ENGINE_FLAGS, ENGINE_GROUPS

__all__ = [
    "ENGINE_BYTES",
    "ENGINE_FLAGS",
    "ENGINE_GROUPS",
    "STOCK_RUN_BYTES",
    "WARM_RUN_BYTES",
    "Capacity",
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
    "WatchSettings",
    "extension_flags",
    "flag_groups",
    "flags_of_run",
    "known_flags",
    "load_class",
    "load_point",
    "read_capacity",
    "refuse_twins",
    "runs_within",
    "waiting_within",
]
