"""`rolecall top`: the CRs of an operator on the whole screen, with keys to look closer and to act.

Needs the extra `rolecall-dev[top]`; nothing else imports Textual. What it shows and does are the
commands `status`, `runs`, `logs`, `reconcile`, `pause`, `resume` and `stop`, run as child processes.
"""

from rolecall.cli import CommandModule, Purpose

TOP_COMMANDS = {
    "top": CommandModule(
        f"{__name__}.command",
        "show all CRs live on the whole screen, and act on them",
        Purpose.LOOK,
    )
}

__all__ = ["TOP_COMMANDS"]
