"""Which extensions are installed, in the order in which they are asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import EntryPoint, entry_points

from rolecall.errors import InputError
from rolecall.extending.extension import Extension
from rolecall.log_fields import log_fields
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


@cache
def installed() -> Installed:
    """What there is now; raises `InputError`."""
    found: dict[str, type[Extension]] = {}
    is_one_missing = False
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if (extension := _loaded(point)) is None:
            is_one_missing = True
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
    owners = {key.name: "the engine" for key in ENTRY_KEYS}
    found = [(each.name, each.watch_keys) for each in extension_classes()]
    declared = [(name, keys) for name, keys in found if keys is not None]
    for name, keys in declared:
        for key in keys.keys:
            if (other := owners.setdefault(key.name, name)) != name:
                raise InputError(
                    f"the extension `{name}` and {other} have a key `{key.name}` in watches.yaml",
                    hint="uninstall the extension, or rename its key",
                )
    missing = [MissingKeys] if installed().is_one_missing else []
    return [*(keys for _, keys in declared), *missing]


def _loaded(point: EntryPoint) -> type[Extension] | None:
    """The class; None: its module was taken away, and nothing of it is missed."""
    try:
        extension = point.load()
    except ModuleNotFoundError as error:
        if not point.module.startswith(str(error.name)):
            raise _not_loaded(point, error) from error
        fields = log_fields(module=point.module)
        _logger.warning("the extension `%s` is missing", point.name, extra=fields)
        return None
    except Exception as error:
        raise _not_loaded(point, error) from error
    if not (isinstance(extension, type) and issubclass(extension, Extension)):
        raise _not_loaded(point, TypeError(f"`{point.value}` is no subclass of `Extension`"))
    return extension


def _not_loaded(point: EntryPoint, error: Exception) -> InputError:
    package = point.dist.name if point.dist is not None else "unknown"
    return InputError(
        f"the extension `{point.name}` of the package `{package}` cannot be loaded: {error!r}",
        hint=f"mend `{point.value}`, or uninstall the package",
    )


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
