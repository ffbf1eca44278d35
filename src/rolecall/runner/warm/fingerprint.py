"""Which runs one host can serve: all whose environment and ansible.cfg are as at its start.

Ansible reads its configuration while it is imported, so a host is made for one configuration. The few
variables that differ from run to run by design are left out here, and set for each run by the child.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall_base.file_stamp import stamp_of
from rolecall_base.variables import PER_RUN_VARIABLES

# Settings that are read while Ansible is imported, and name folders and files; a test holds it against
# ansible-core's own list.
_NAMES_PATHS = re.compile(
    r"^_?ANSIBLE_(\w+_PLUGINS|\w*_PATHS?|\w*_FILE|\w*_DIR|LIBRARY|HOME|INVENTORY|MODULE_UTILS|DOC_\w+"
    r"|\w*_SKELETON|\w*_KEYRING|TEST_ENTRY3)$"
)
_FOLDER = "{{CWD}}"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a host was started for; equal ones can share it."""

    digest: str
    config_file: str  # the ansible.cfg that Ansible must say it found; empty: none
    config_stamp: str = ""


def fingerprint_of(environment: Mapping[str, str], cwd: Path) -> Fingerprint:
    """The fingerprint of a run with this environment, started in this folder."""
    config_file = _find_config(environment, cwd)
    shared = {key: value for key, value in environment.items() if key not in PER_RUN_VARIABLES}
    config_stamp = str(stamp_of(config_file))
    parts = [json.dumps(shared, sort_keys=True), config_file, config_stamp]
    if _depends_on_folder(shared, config_file, cwd):
        parts.append(str(cwd))
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    return Fingerprint(digest[:16], config_file, config_stamp)


def is_current(fingerprint: Fingerprint) -> bool:
    """Whether a run may still have it: its ansible.cfg is as it was."""
    return str(stamp_of(fingerprint.config_file)) == fingerprint.config_stamp


def _depends_on_folder(shared: Mapping[str, str], config_file: str, cwd: Path) -> bool:
    """Whether a setting means something else where another run starts: then hosts are not shared."""
    if any(_is_relative(value) for name, value in shared.items() if _NAMES_PATHS.search(name)):
        return True
    if any(_FOLDER in value for name, value in shared.items() if name.startswith("ANSIBLE_")):
        return True
    # Ansible warns of an ansible.cfg that any user could have put there.
    if _is_open_to_all(cwd) and (cwd / "ansible.cfg").exists():
        return True
    with contextlib.suppress(OSError):
        return bool(config_file) and _FOLDER in Path(config_file).read_text(errors="replace")
    return False


def _is_relative(paths: str) -> bool:
    parts = (part.strip() for part in re.split("[:,]", paths))
    return any(part and not part.startswith(("/", "~", "{{")) for part in parts)


def _find_config(environment: Mapping[str, str], cwd: Path) -> str:
    """The ansible.cfg by Ansible's order of search; the host checks that Ansible agrees."""
    candidates = []
    if named := environment.get("ANSIBLE_CONFIG"):
        path = Path(named).expanduser()
        candidates.append(path / "ansible.cfg" if path.is_dir() else path)
    with_here = cwd / "ansible.cfg"
    if not _is_open_to_all(cwd):
        candidates.append(with_here)
    home = environment.get("HOME", "")
    candidates += [Path(home) / ".ansible.cfg", Path("/etc/ansible/ansible.cfg")]
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.R_OK):
            return str(candidate)
    return ""


def _is_open_to_all(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True
