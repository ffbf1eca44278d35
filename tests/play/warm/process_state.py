"""Lists what a process holds: every value that a module of some libraries, or a class there, refers to.

A script. `process_state.py new NAMES`: a process that imported ansible-playbook, and then the modules
of that file. `process_state.py warm FOLDER`: a run child of a warm host, right before its play begins.
Both print a JSON object, with a text for each place that has one; the test compares them.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import functools
import importlib.util
import json
import logging
import os
import re
import signal
import socket
import sys
import types
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_WALKED = ("ansible", "ansible_collections", "ansible_runner", "jinja2", "kubernetes", "yaml")
_PLAIN = (int, float, complex, str, bytes, bool, type(None), re.Pattern, range)
_CONTAINERS = (dict, list, set, collections.deque, collections.OrderedDict, collections.defaultdict)
_DEEPEST = 2
_LONGEST = 400

State = dict[str, str]


def state() -> State:
    """What this process holds, by place."""
    found = dict(_of_the_interpreter())
    for name, module in sorted(sys.modules.items()):
        if _is_walked(name) and isinstance(module, types.ModuleType):
            for key, value in sorted(vars(module).items()):
                if not _is_dunder(key) and _is_at_home(value, name):
                    found.update(_places(f"{name}:{key}", value, 0))
    return found


def _is_walked(name: str) -> bool:
    return name.partition(".")[0] in _WALKED


def _is_at_home(value: Any, module: str) -> bool:
    """Whether it is listed here; a class that others import is listed where it was made."""
    if isinstance(value, type | types.FunctionType | functools._lru_cache_wrapper):
        return getattr(value, "__module__", "") == module
    return not isinstance(value, types.ModuleType | logging.Logger | weakref.ref)


def _places(place: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Each place below this one, and what is there in short."""
    if isinstance(value, _PLAIN):
        yield place, _short(value)
    elif isinstance(value, types.FunctionType | types.MethodType):
        yield place, _place_of(value.__code__)
        yield from _attributes(place, value, depth)
    elif isinstance(value, functools._lru_cache_wrapper):
        yield place, f"keeps {value.cache_info().currsize}"
    elif isinstance(value, contextvars.ContextVar):
        yield place, type(value.get(None)).__name__
    elif depth > _DEEPEST:
        yield place, type(value).__name__
    elif type(value) in _CONTAINERS or isinstance(value, type | types.MappingProxyType):
        yield from _contents(place, value, depth)
    else:
        yield place, type(value).__qualname__
        yield from _attributes(place, value, depth)


def _contents(place: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, type):
        yield from _attributes(place, value, depth)
        return
    yield place, f"{type(value).__name__} of {len(value)}: {_short(sorted(map(_short, value)))}"
    if isinstance(value, dict):
        for key, item in list(value.items()):
            yield from _places(f"{place}[{_short(key)}]", item, depth + 1)


def _attributes(place: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    attributes: dict[str, Any] = {}
    if depth > _DEEPEST:
        return
    with contextlib.suppress(Exception):  # an object that makes up its attributes
        attributes = dict(vars(value))
    for key, item in sorted(attributes.items(), key=str):
        if not _is_dunder(key) and not isinstance(item, type | types.MemberDescriptorType):
            yield from _places(f"{place}.{key}", item, depth + 1)


def _is_dunder(name: Any) -> bool:
    return str(name).startswith("__") and str(name).endswith("__")


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, (*_PLAIN, list, tuple)) else type(value).__name__
    return re.sub(r"0x[0-9a-f]+", "0x", text)[:_LONGEST]


def _place_of(code: types.CodeType | None) -> str:
    return "" if code is None else f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _of_the_interpreter() -> Iterator[tuple[str, str]]:
    umask = os.umask(0)
    os.umask(umask)
    yield "process umask", oct(umask)
    yield "process folder", os.getcwd()  # noqa: PTH109 - as the process says it
    yield "process environment", json.dumps(dict(os.environ), sort_keys=True)
    for number in sorted(signal.valid_signals()):
        handler = signal.getsignal(number)
        yield f"process signal {number}", getattr(handler, "__qualname__", str(handler))
    yield "process recursion limit", str(sys.getrecursionlimit())
    yield "process path", json.dumps(sys.path[1:])  # the first is the script's own folder
    yield "process finders", json.dumps([_name(finder) for finder in sys.meta_path])
    yield "process warnings", json.dumps([str(each) for each in warnings.filters])
    yield "process logging", json.dumps([type(each).__name__ for each in logging.root.handlers])
    yield "process timeout", str(socket.getdefaulttimeout())
    yield "process threads", str(len(os.listdir("/proc/self/task")))  # noqa: PTH208


def _name(finder: Any) -> str:
    return str(getattr(finder, "__name__", type(finder).__name__))


def _new(names: Path) -> State:
    importlib.import_module("ansible.cli.playbook")
    from ansible.plugins import loader  # noqa: PLC0415 - after what must be imported before it

    before = {name: value for name, value in state().items() if not name.startswith("ansible_")}
    loader._configure_collection_loader()
    for name in names.read_text().split():
        with contextlib.suppress(Exception):  # a name that only a loader can make
            importlib.import_module(name)
    return state() | before


def _warm(folder: Path) -> State:
    """As `rolecall_warm/__main__.py` and `ahead/warm_up.py` do it, up to the play."""
    from rolecall_warm.hooks.new_process import NewProcess  # noqa: PLC0415
    from rolecall_warm.hooks.streams import StreamSettings  # noqa: PLC0415

    streams = StreamSettings.of_this_process()
    new = NewProcess()
    from rolecall_warm import child  # noqa: PLC0415
    from rolecall_warm.ahead import warm_up  # noqa: PLC0415

    host = warm_up.warm_up(folder, streams, new)
    engine, _theirs = socket.socketpair()
    host.role_ran(str(folder / "role"))
    host.take_steps(engine)
    # Under the names that they call themselves: one stands under an old name, too.
    names = {getattr(module, "__name__", "") for module in list(sys.modules.values())}
    (folder / "modules").write_text("\n".join(sorted(filter(_is_walked, names))))
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        child._renew(host.parts)
        (folder / "warm.json").write_text(json.dumps(state()))
        os._exit(0)
    os.waitpid(pid, 0)
    return dict(json.loads((folder / "warm.json").read_text()))


if __name__ == "__main__":
    found = _new(Path(sys.argv[2])) if sys.argv[1] == "new" else _warm(Path(sys.argv[2]))
    Path(sys.argv[3]).write_text(json.dumps(found))
