"""What keeps a whole run from being warm; each reason in words for people."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rolecall.runner.contract import RunRequest
from rolecall.runner.inputs import PreparedRun

# Options that ask the terminal, which a run child does not have.
_ASKING = frozenset(
    {
        "-J",
        "-K",
        "-k",
        "--ask-become-pass",
        "--ask-pass",
        "--ask-vault-pass",
        "--ask-vault-password",
        "--step",
    }
)
# From here on Ansible prints what it loads, and a host has loaded it long ago.
_SHOWS_LOADING = 4


def reason_against(request: RunRequest, prepared: PreparedRun) -> str:
    """Why this run goes the stock way; empty where it may be warm."""
    if request.terms.way == "stock":
        return "the watch says `runner: stock`"
    if not sys.platform.startswith("linux") or not hasattr(os, "pidfd_open"):
        return f"warm runs need Linux; this is {sys.platform}"
    return _against_command(prepared)


def _against_command(prepared: PreparedRun) -> str:
    program, *options = prepared.command
    if asking := _ASKING.intersection(options):
        return f"`{sorted(asking)[0]}` needs a terminal"
    if sum(_verbosity_of(option) for option in options) >= _SHOWS_LOADING:
        return "with verbosity 4 or more, Ansible shows how it loads its parts"
    if _interpreter_of(program) != sys.executable:
        return f"`{program}` belongs to another Python than the operator"
    return ""


def _verbosity_of(option: str) -> int:
    if option == "--verbose":
        return 1
    return len(option) - 1 if option.startswith("-v") and set(option[1:]) == {"v"} else 0


def _interpreter_of(program: str) -> str:
    """The Python that a console script starts; empty where it is no such script."""
    try:
        with Path(program).open("rb") as file:
            first, second = file.readline(512), file.readline(512)
    except OSError:
        return ""
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if words == ["/bin/sh"] and second.startswith(b"'''exec' "):
        # What installers write where the path is too long or has spaces.
        return (
            second.decode(errors="replace").split("'''exec' ", 1)[1].split(' "$0"')[0].strip("\"' ")
        )
    return words[0] if words else ""
