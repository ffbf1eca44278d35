"""Reads why a task failed, in the words of its error message, and whether a retry can help.

Results come from modules that each have their own habits, of tasks with loops, of modules that died; they
hold text that others wrote. So nothing here expects a key, and nothing is templated.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RETRYING = "Retrying"
MOST_WORDS = 500
_MOST_READ = 200_000  # of one text; a body of the API server is far below
_HIDDEN = "its output is hidden by `no_log`"

# What no change of ours mends, and the way out of it.
_WAYS_OUT = {
    "SpecRefused": "this is refused until the spec changes",
    "QuotaExceeded": "this is refused until less is asked for, or the quota is raised",
    "PolicyRefused": "this is refused until the spec or the policy changes",
    "RightMissing": "this is refused until the operator gets that right",
}
_BYTES = re.compile(r"""b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_STATUS = re.compile(r'\{\s*"kind":\s*"Status"|\{\s*"apiVersion":\s*"v1",\s*"kind":\s*"Status"')
_QUOTA = re.compile(r"exceeded quota: |failed quota: ")
_POLICY = re.compile(
    r"violates PodSecurity |admission webhook \S+ denied the request"
    r"|ValidatingAdmissionPolicy \S+ .*denied request"
)
_NO_RIGHT = re.compile(
    r'\bUser "[^"]*" cannot |attempting to grant RBAC permissions not currently held', re.DOTALL
)
# Forbidden for the moment: another operation is in progress.
_PASSING = re.compile(
    r"because it is being terminated|error looking up service account|not yet ready to handle request"
)
_SAYS_NOTHING = re.compile(
    r"One or more items failed|All items completed|MODULE FAILURE.*"
    r"|(?:The command exited with a )?non-zero return code\.?",
    re.DOTALL,
)
_FORBIDDEN, _BAD_REQUEST, _INVALID = 403, 400, 422


@dataclass(frozen=True)
class Failure:
    """Why a block failed."""

    task: str
    reason: str
    words: str  # with the way out, where there is one

    @property
    def message(self) -> str:
        """For `Ready`; what a role refuses needs no task to be understood."""
        own = self.reason not in _WAYS_OUT and self.reason != RETRYING
        return self.words if own or not self.task else f"{self.task}: {self.words}"


@dataclass(frozen=True)
class _Refusal:
    """An answer of the API server."""

    code: int
    message: str


def failure_of(task: Mapping[str, Any], result: Mapping[str, Any]) -> Failure:
    """What to say, from `ansible_failed_task` and `ansible_failed_result`."""
    name = _one_line(str(task.get("name") or task.get("action") or ""))
    parts = list(_parts(result))
    refused = next((part for part in parts if _text(part.get("refusal"))), None)
    if refused is not None:
        return Failure(name, _text(refused["refusal"]), _one_line(_text(refused.get("msg"))))
    refusal = next(filter(None, map(_refusal_in, parts)), None)
    reason = RETRYING if refusal is None else _reason_of(refusal)
    if _is_hidden(task, parts):
        words = _HIDDEN
    else:
        words = _one_line(refusal.message if refusal else _words_of(parts))
    way_out = _WAYS_OUT.get(reason)
    return Failure(name, reason, f"{words}; {way_out}" if way_out else words)


def why_failed(result: Any) -> str:
    """The words of a failed task alone, for a role that reports them and goes on."""
    if not isinstance(result, Mapping):
        raise ValueError("`why_failed` is for the result of a task, such as `ansible_failed_result`")
    return failure_of({}, result).words


def _parts(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The failed items of a loop, and the result itself."""
    items = result.get("results")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and item.get("failed"):
            yield item
    yield result


def _is_hidden(task: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> bool:
    asked = str(task.get("no_log") or "").lower() not in ("", "false", "no", "0", "none")
    return asked or any(part.get("_ansible_no_log") or "censored" in part for part in parts)


def _refusal_in(part: Mapping[str, Any]) -> _Refusal | None:
    error = part.get("error")
    bodies = [error.get("body")] if isinstance(error, Mapping) else []
    for value in (*bodies, part.get("msg"), part.get("exception"), part.get("module_stderr")):
        if found := _status_in(value):
            return found
    code = part.get("status")
    if isinstance(code, int) and not isinstance(code, bool) and _text(part.get("msg")):
        return _Refusal(code, _text(part["msg"]))
    return None


def _status_in(value: Any) -> _Refusal | None:
    """The Status object in a text, or in the bytes that a text shows as Python does."""
    if isinstance(value, Mapping):
        return _refusal(value)
    text = _text(value)[:_MOST_READ]
    for part in (text, *map(_decoded, _BYTES.findall(text))):
        if start := _STATUS.search(part):
            try:
                return _refusal(json.JSONDecoder().raw_decode(part, start.start())[0])
            except (ValueError, RecursionError):
                continue
    return None


def _decoded(literal: str) -> str:
    try:
        return ast.literal_eval(literal).decode(errors="replace")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""


def _refusal(status: Mapping[str, Any]) -> _Refusal | None:
    code, message = status.get("code"), _text(status.get("message"))
    return _Refusal(code, message) if isinstance(code, int) and message else None


def _reason_of(refusal: _Refusal) -> str:
    text = refusal.message
    if not _BAD_REQUEST <= refusal.code < 500 or _PASSING.search(text):
        return RETRYING
    if _QUOTA.search(text):
        return "QuotaExceeded"
    if _POLICY.search(text):
        return "PolicyRefused"
    if refusal.code == _FORBIDDEN:
        return "RightMissing" if _NO_RIGHT.search(text) else "PolicyRefused"
    return "SpecRefused" if refusal.code in (_BAD_REQUEST, _INVALID) else RETRYING


def _words_of(parts: list[Mapping[str, Any]]) -> str:
    """The first that says something; else that something failed."""
    for part in parts:
        label = part.get("_ansible_item_label", part.get("item")) if part is not parts[-1] else None
        named = f"item `{label}`: " if isinstance(label, (str, int)) else ""
        if said := _said_by(part):
            return named + said
    return "it failed, and does not say why"


def _said_by(part: Mapping[str, Any]) -> str:
    message = _text(part.get("msg"))
    if message and not _SAYS_NOTHING.fullmatch(message.strip()):
        return message
    for key in ("stderr", "module_stderr", "reason", "module_stdout", "stdout"):
        lines = [line.strip() for line in _text(part.get(key)).splitlines() if line.strip()]
        if lines:  # the last line of a traceback, or of a program's complaint
            return lines[-1]
    code = part.get("rc")
    return f"exit status {code}" if isinstance(code, int) and code else message


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS else line[: MOST_WORDS - 4] + " ..."
