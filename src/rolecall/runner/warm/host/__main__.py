"""Start of the host process: take the engine's socket, warm up, serve until the engine hangs up.

A script, not `python -m`: the packages above would import the side of the engine (ansible-runner,
asyncio, ...), 20 MB that every host would hold for nothing. So they are stood in for, without contents.
"""

from __future__ import annotations

import socket
import sys
import traceback
import types
from pathlib import Path

# What code says that meets other code than it was written for. Not among them: OSError, MemoryError and
# RuntimeError (`can't start new thread`), which pass.
_OF_FILES = (AttributeError, TypeError, NameError, SyntaxError, LookupError, ValueError)


def _stand_in_for_packages() -> None:
    folder = Path(__file__).resolve().parents[1]
    for name in ("rolecall.runner.warm", "rolecall.runner", "rolecall"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        folder = folder.parent


def main() -> int:
    """Serve on the descriptor that the engine left us: `__main__.py DESCRIPTOR FOLDER [MARK...]`."""
    _stand_in_for_packages()
    from rolecall.runner.warm import wire  # noqa: PLC0415 - after the packages above it
    from rolecall.runner.warm.hooks.streams import StreamSettings  # noqa: PLC0415

    streams = StreamSettings.of_this_process()
    engine = socket.socket(fileno=int(sys.argv[1]))
    try:
        from rolecall.runner.warm.hooks.new_process import NewProcess  # noqa: PLC0415

        new = NewProcess()
        # Whatever ansible-core of another version does when imported, the engine is told.
        from rolecall.runner.warm.host.serve import serve  # noqa: PLC0415

        serve(engine, Path(sys.argv[2]), streams, new, frozenset(sys.argv[3:]))
    except wire.WireError:
        return 1
    except Exception as error:  # the engine logs it once and runs the stock way
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        wire.send(engine, {"op": "broken", "reason": reason, "lasting": _lies_in_files(error)})
        return 1
    return 0


def _lies_in_files(error: Exception) -> bool:
    """Whether the same files would give the same answer, as where a name is not there."""
    if isinstance(error, ImportError):
        # A library that could not be mapped may be there, and the memory not.
        return not str(error.path or "").endswith(".so")
    return isinstance(error, _OF_FILES)


if __name__ == "__main__":
    sys.exit(main())
