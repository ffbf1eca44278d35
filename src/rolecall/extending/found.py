"""Which extensions are installed, in the order in which they are asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import entry_points

from rolecall.errors import InputError
from rolecall.extending.extension import Extension
from rolecall.log_fields import log_fields
from rolecall.metrics import MetricSpec
from rolecall.settings import load_class, refuse_twins
from rolecall.watches import ENTRY_KEYS, ExtensionKeys, MissingKeys

GROUP = "rolecall.extensions"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Installed:
    """What the entry points of all installed packages name."""

    classes: Sequence[type[Extension]]
    is_one_missing: bool


def extension_classes() -> Sequence[type[Extension]]:
    """Each after those that it names; raises `InputError`."""
    return installed().classes


def extension_metrics() -> Sequence[MetricSpec]:
    """The metrics of all of them; raises `InputError`."""
    return [metric for extension in extension_classes() for metric in extension.metrics]


@cache
def installed() -> Installed:
    """What there is now; raises `InputError`."""
    found: dict[str, type[Extension]] = {}
    is_one_missing = False
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if (extension := load_class(point, Extension)) is None:
            is_one_missing = True
            fields = log_fields(module=point.module)
            _logger.warning("the extension `%s` is missing", point.name, extra=fields)
            continue
        if extension.name in found:
            raise InputError(
                f"two installed packages have an extension `{extension.name}`",
                hint="uninstall one of them, or rename it",
            )
        found[extension.name] = extension
    return Installed(_ordered(found), is_one_missing)


def watch_keys() -> Sequence[type[ExtensionKeys]]:
    """What extensions read of each entry of watches.yaml; raises `InputError`."""
    found = [(each.name, each.watch_keys) for each in extension_classes()]
    declared = [(name, keys) for name, keys in found if keys is not None]
    names = [(name, key.name) for name, keys in declared for key in keys.keys]
    refuse_twins([key.name for key in ENTRY_KEYS], names, "a key `{}` in watches.yaml")
    missing = [MissingKeys] if installed().is_one_missing else []
    return [*(keys for _, keys in declared), *missing]


def _ordered(found: dict[str, type[Extension]]) -> Sequence[type[Extension]]:
    """Each after those that it names, else by name."""
    waits_for = {
        name: [each for each in extension.after if each in found]
        for name, extension in found.items()
    }
    try:
        return tuple(found[name] for name in TopologicalSorter(waits_for).static_order())
    except CycleError as error:
        circle = " after ".join(error.args[1])
        raise InputError(
            f"extensions want to be asked after each other: {circle}",
            hint="take one of these names out of `after` of its class",
        ) from error
