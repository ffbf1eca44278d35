"""How people look at a running operator and act on it: the control socket, the page, and commands.

All show the same read model, the `EnginePorts` of an engine and the runs that it keeps.
"""

from rolecall.cli import CommandModule, Purpose


def _command(module: str, summary: str, purpose: Purpose) -> CommandModule:
    return CommandModule(f"{__name__}.commands.{module}", summary, purpose)


CONSOLE_COMMANDS = {
    "status": _command("status", "show each CR: its state, last outcome, next time", Purpose.LOOK),
    "runs": _command("runs", "list the runs of a CR: when, why, outcome", Purpose.LOOK),
    "logs": _command("logs", "print the output of a run; -f follows new runs", Purpose.LOOK),
    "blame": _command("blame", "show who wrote each field of an object", Purpose.LOOK),
    "reconcile": _command("reconcile", "reconcile a CR now, or all of them", Purpose.ACT),
    "stop": _command("stop", "stop the current run of a CR", Purpose.ACT),
    "pause": _command("pause", "pause a CR: run nothing for it", Purpose.ACT),
    "resume": _command("pause", "resume a CR that is paused", Purpose.ACT),
    "page": _command("page", "open the page of the operator in a cluster", Purpose.LOOK),
}

__all__ = ["CONSOLE_COMMANDS"]
