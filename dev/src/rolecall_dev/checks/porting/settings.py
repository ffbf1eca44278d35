"""Settings of Ansible that mean nothing any more from 2.19 on."""

from __future__ import annotations

import re
from pathlib import Path

from rolecall_dev.sources import Findings, shown

_FILES = ("ansible.cfg", "Dockerfile", "config/manager/*.yaml", "config/default/*.yaml")
_NATIVE = re.compile(r"^[^#;]*\b(?:jinja2_native\s*=|ANSIBLE_JINJA2_NATIVE\b)")
_EXTENSIONS = re.compile(r"^[^#;]*\b(?:jinja2_extensions\s*=|ANSIBLE_JINJA2_EXTENSIONS\b)")


def check_settings(cwd: Path, findings: Findings) -> None:
    """Tell each line that sets one of them."""
    for path in sorted(path for pattern in _FILES for path in cwd.glob(pattern) if path.is_file()):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, start=1):
            _check_line(shown(path, cwd), number, line, findings)


def _check_line(file: str, number: int, line: str, findings: Findings) -> None:
    if _NATIVE.match(line):
        what = "`jinja2_native` has no effect from ansible-core 2.19 on: every template is native"
        findings.warn(file, number, what, hint="remove it once 2.18 is no longer used")
    if _EXTENSIONS.match(line):
        what = "`jinja2_extensions` will be gone in ansible-core 2.23"
        findings.warn(file, number, what, hint="write filters instead of `{% do %}`")
