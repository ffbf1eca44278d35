"""Makes two runs comparable: what differs between any two becomes a word, all else must be equal."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rolecall.runner.installed import version_of

Words = Sequence[tuple[str, str]]
Patterns = Sequence[tuple[str, str]]

_VOLATILE_KEYS = frozenset(
    (
        *("uuid", "parent_uuid", "task_uuid", "play_uuid", "playbook_uuid", "runner_ident", "pid"),
        *("created", "duration", "start", "end", "delta", "ctime", "mtime", "atime"),
        *("ansible_date_time", "ansible_interfaces", "ansible_loadavg", "ansible_uptime_seconds"),
        *("ansible_memfree_mb", "ansible_memory_mb", "ansible_swapfree_mb", "ansible_mounts"),
        *("inode", "dev", "ansible_job_id", "start_line", "end_line", "child_pid"),
    )
)
_VOLATILE_TEXTS = (
    (r"[\w/.-]*/rolecall-run-\w+", "<scratch>"),
    (r"[\w/.-]*/rolecall-command-\w+", "<link>"),
    (r"^\.[a-z0-9_]{8}$", "<tmpname>"),
    (r"ansible-tmp-[\d.]+-\d+-\d+", "<tmp>"),
    (r"ansible-local-\w+", "<local>"),
    (r"ansible-moduletmp-[\d.]+-\w+", "<moduletmp>"),
    (r"ansible_[\w.]+_payload_\w+", "<payload>"),
    (r"\.ansible_tmp\w+", "<atomic>"),
    (r"\bj?\d{6,}\.\d{2,}", "<job>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"\d+:\d\d:\d\d\.\d+", "<delta>"),
    (r"0x[0-9a-f]{6,}", "<address>"),
    (r"\btmp[a-z0-9_]{8}\b", "<tmpname>"),
    (r"\b(process|pid|PID|p)[= ]\d+", "<pid>"),
    (r"Paused for [\d.]+ seconds", "<paused>"),
)
# ansible-core 2.18 shows every traceback, and ours passes through our own code.
_LINE = r"(?:(?!\\n|\n).)*(?:\\n|\n)"
_TRACEBACKS = ((rf"(Traceback \(most recent call last\):(?:\\n|\n))(?:  {_LINE})+", r"\1"),)


class Normal:
    """One run's words; `keys` and `patterns` add to what differs between any two runs."""

    def __init__(self, words: Words, keys: Iterable[str] = (), patterns: Patterns = ()) -> None:
        self._words = words
        self._keys = _VOLATILE_KEYS | frozenset(keys)
        tracebacks = _TRACEBACKS if version_of("ansible-core").startswith("2.18.") else ()
        found = (*patterns, *tracebacks, *_VOLATILE_TEXTS)
        self._patterns = [(re.compile(pattern), word) for pattern, word in found]

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """An event file's content; its number stays."""
        normal = self.value(event)
        assert isinstance(normal, dict)
        return normal | {"counter": event["counter"]}

    def value(self, value: Any) -> Any:
        """Anything that JSON can say."""
        if isinstance(value, dict):
            # Of a file: the generation of its inode.
            keys = {*self._keys, "version"} if "inode" in value else self._keys
            return {
                self.value(key): "<volatile>" if key in keys else self.value(item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """A text, cut by cut."""
        for found, word in self._words:
            text = text.replace(found, word)
        for pattern, word in self._patterns:
            text = pattern.sub(word, text)
        return text

    def tree(self, folder: Path) -> dict[str, Any]:
        """Every file of a folder: mode, target of a link, content."""
        tree = {}
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            content = path.read_bytes().decode(errors="replace") if path.is_file() else ""
            target = str(path.readlink()) if path.is_symlink() else ""
            name = self.text(str(path.relative_to(folder)))
            tree[name] = (oct(stat.S_IMODE(status.st_mode)), target, self.text(content))
        return tree
