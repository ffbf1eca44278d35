"""Why a run that has no recap came to nothing, in one honest line for the CR's user.

Ansible prints its reason and goes: as `ERROR! ...` up to core 2.18, as `[ERROR]: ...` from 2.19 on, as
`ERROR: ...` where it cannot even begin; the place in one of two spellings below. The last such block is
the one that ended the play. Where none is found, the line says so and quotes the last thing that was
printed, instead of guessing.
"""

from __future__ import annotations

import re
import signal

from rolecall.runner.missing import way_out_of_missing, without_guesses

_BLOCK = re.compile(r"^(?:ERROR! |\[ERROR\]: |ERROR: |ansible-playbook: error: )", re.MULTILINE)
_PLACE = re.compile(
    r"^Origin: (?P<file>.+?):(?P<line>\d+)(?::\d+)?$"
    r"|^The error appears to be in '(?P<old_file>.+?)': line (?P<old_line>\d+)",
    re.MULTILINE,
)
# Core 2.18 first complains that YAML is no JSON; what is wrong with the YAML follows this line.
_YAML_COMPLAINT = re.compile(r"^Syntax Error while loading YAML\.\n\s*(?P<why>.+)$", re.MULTILINE)
_ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DEAD_WORKER = "A worker was found in a dead state"
_LONGEST = 300
OUT_OF_MEMORY_HINT = (
    "most likely it ran out of memory: raise the memory limit of the operator's pod,"
    " or run fewer plays at once"
)


def why_no_recap(stdout: str, rc: int | None) -> str:
    text = _ESCAPE_CODES.sub("", stdout).replace("\r\n", "\n")
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        said = [line.strip() for line in text.splitlines() if line.strip()]
        last = f"; the last line was: {said[-1]}" if said else " and printed nothing"
        return _shortened(f"ansible-playbook ended with exit status {rc} before a recap{last}")
    block = text[blocks[-1].end() :]
    message = " ".join(_message_lines(block))
    if complaint := _YAML_COMPLAINT.search(block):
        message = f"YAML syntax error: {complaint['why'].strip()}"
    way_out = way_out_of_missing(message)
    ending = f"; {way_out}" if way_out else ""
    message = without_guesses(message) if way_out else message
    place = _PLACE.search(block)
    if place is None:
        return _shortened(message) + ending
    file, line = place["file"] or place["old_file"], place["line"] or place["old_line"]
    return _shortened(message, f" ({file}:{line})") + ending


def was_killed(stdout: str, rc: int | None) -> bool:
    """Whether the play, or a worker of it, was ended from outside without our doing."""
    return rc == 128 + signal.SIGKILL or _DEAD_WORKER in stdout


def signal_text(number: int) -> str:
    """`SIGKILL (9)`, with what it most likely means."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "signal"
    text = f"the play was killed by {name} ({number})"
    return f"{text}; {OUT_OF_MEMORY_HINT}" if number == signal.SIGKILL else text


def _message_lines(block: str) -> list[str]:
    lines = []
    for line in block.splitlines():
        if not line.strip() or line.startswith(("Origin: ", "The error appears to be in ")):
            break
        lines.append(line.strip())
    return lines


def _shortened(text: str, ending: str = "") -> str:
    room = _LONGEST - len(ending)
    return (text if len(text) <= room else f"{text[: room - 4]} ...") + ending
