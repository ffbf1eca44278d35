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


def _stand_in_for_packages() -> None:
    folder = Path(__file__).resolve().parents[1]
    for name in ("rolecall.runner.warm", "rolecall.runner", "rolecall"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        folder = folder.parent


def main() -> int:
    """Serve on the descriptor that the engine left us: `__main__.py DESCRIPTOR FOLDER`."""
    _stand_in_for_packages()
    from rolecall.runner.warm import wire  # noqa: PLC0415 - after the packages above it
    from rolecall.runner.warm.hooks.streams import StreamHabits  # noqa: PLC0415

    habits = StreamHabits.of_this_process()
    engine = socket.socket(fileno=int(sys.argv[1]))
    try:
        # Whatever ansible-core of another version does when imported, the engine is told.
        from rolecall.runner.warm.host.serve import serve  # noqa: PLC0415

        serve(engine, Path(sys.argv[2]), habits)
    except wire.WireError:
        return 1
    except Exception as error:  # the engine logs it once and runs the stock way
        traceback.print_exc()
        wire.send(engine, {"op": "broken", "reason": f"{type(error).__name__}: {error}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
