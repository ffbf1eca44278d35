"""Start of the host process: take the engine's socket, warm up, serve until the engine hangs up.

__main__.py DESCRIPTOR FOLDER [MARK...]          serves on the descriptor that the engine left
__main__.py --check          prints what of ansible-core the hooks do not know, as a JSON list
"""

from __future__ import annotations

import json
import socket
import sys
import traceback
from pathlib import Path

from rolecall_base import wire

# What code says that meets other code than it was written for. Not among them: OSError, MemoryError and
# RuntimeError (`can't start new thread`), which pass.
_OF_FILES = (AttributeError, TypeError, NameError, SyntaxError, LookupError, ValueError)


def main() -> int:
    from rolecall_warm.hooks.streams import StreamSettings  # noqa: PLC0415

    streams = StreamSettings.of_this_process()
    engine = socket.socket(fileno=int(sys.argv[1]))
    try:
        from rolecall_warm.hooks.new_process import NewProcess  # noqa: PLC0415

        new = NewProcess()
        # Whatever error ansible-core of another version raises on import, the engine gets it.
        from rolecall_warm.serve import serve  # noqa: PLC0415

        serve(engine, Path(sys.argv[2]), streams, new, frozenset(sys.argv[3:]))
    except wire.WireError:
        return 1
    except Exception as error:  # the engine logs it once and runs the stock way
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        wire.send(engine, {"op": "broken", "reason": reason, "lasting": _lies_in_files(error)})
        return 1
    return 0


def check() -> int:
    from rolecall_warm.hooks.seams import check  # noqa: PLC0415 - only here

    print(json.dumps(check()))  # noqa: T201 - what the engine reads
    return 0


def _lies_in_files(error: Exception) -> bool:
    """Whether the same files would give the same answer, as where a name is not there."""
    if isinstance(error, ImportError):
        # A library that could not be mapped may be there, and the memory not.
        return not str(error.path or "").endswith(".so")
    return isinstance(error, _OF_FILES)


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else main())
