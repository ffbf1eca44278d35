"""The flags of `rolecall run` with those of extensions, and how entry points of packages are loaded.

Flags have an entry point group of their own: help, completion and an error in a flag load what declares
them, and no more of an extension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from rolecall.errors import InputError
from rolecall.settings.flags import ExtensionFlags, Flag, FlagGroup
from rolecall.settings.table import ENGINE_FLAGS, ENGINE_GROUPS

FLAGS_GROUP = "rolecall.flags"


@cache
def extension_flags() -> Sequence[type[ExtensionFlags]]:
    """What extensions read of flags; raises `InputError`."""
    points = sorted(entry_points(group=FLAGS_GROUP), key=lambda point: point.name)
    found = [(point.name, load_class(point, ExtensionFlags)) for point in points]
    declared = [(name, flags) for name, flags in found if flags is not None]
    names = [(name, flag.name) for name, flags in declared for flag in flags.group.flags]
    refuse_twins(ENGINE_FLAGS, names, "a flag `--{}`")
    return tuple(flags for _, flags in declared)


def flag_groups() -> Sequence[FlagGroup]:
    """Those of the engine first; raises `InputError`."""
    return [*ENGINE_GROUPS, *(flags.group for flags in extension_flags())]


def flags_of_run() -> Mapping[str, Flag]:
    """All of them by name; raises `InputError`."""
    return {flag.name: flag for group in flag_groups() for flag in group.flags}


def load_class(point: EntryPoint, base: type) -> Any:
    """The subclass of `base` that it names; None: its module was deleted. Raises `InputError`."""
    loaded = load_point(point)
    if loaded is None or (isinstance(loaded, type) and issubclass(loaded, base)):
        return loaded
    raise _not_loaded(point, TypeError(f"`{point.value}` is not a subclass of `{base.__name__}`"))


def load_point(point: EntryPoint) -> Any:
    """What it names; None: its module was deleted. Raises `InputError`."""
    try:
        return point.load()
    except ModuleNotFoundError as error:
        if not point.module.startswith(str(error.name)):
            raise _not_loaded(point, error) from error
        return None
    except Exception as error:
        raise _not_loaded(point, error) from error


def _not_loaded(point: EntryPoint, error: Exception) -> InputError:
    package = point.dist.name if point.dist is not None else "unknown"
    return InputError(
        f"the extension `{point.name}` of the package `{package}` cannot be loaded: {error!r}",
        hint=f"mend `{point.value}`, or uninstall the package",
    )


def refuse_twins(of_engine: Iterable[str], declared: Iterable[tuple[str, str]], what: str) -> None:
    """Raise `InputError` for a name that two declare; `declared` has extensions with their names."""
    owners = dict.fromkeys(of_engine, "the engine")
    for extension, name in declared:
        if (other := owners.setdefault(name, extension)) != extension:
            raise InputError(
                f"the extension `{extension}` and {other} have {what.format(name)}",
                hint="uninstall the extension, or rename that",
            )


def known_flags(words: Iterable[str]) -> list[str]:
    """Those words of a command line whose flag there is: an extension may have been deleted."""
    flags = flags_of_run()
    return [word for word in words if word.removeprefix("--").partition("=")[0] in flags]
