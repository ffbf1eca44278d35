"""What a run makes for a while: a folder of its own, and what a killed play left elsewhere.

A play that is killed cannot tidy up, and its modules hold what they were given. So Ansible's own
temporary folders of a run lie in one scratch folder, and who ends the run removes it. One that ended by
itself leaves in there only what its background jobs need.

What an engine left that was killed itself, the next one removes at its start (`temporary`).

TMPDIR stays as it is: tasks of a role pass files to each other there. What modules unpack there and
could not remove is therefore swept later, once it is too old to be in use. Modules of
kubernetes.core keep the API's discovery there, in a file named after the server's URL, which contains
the password of the run. No later run can find this file, so it is removed with the run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rolecall.runner.folders import remove
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.temporary import (
    RUN_PREFIX,
    LockedFolder,
    remove_old_runs,
)
from rolecall.settings import RunnerSettings
from rolecall_base.variables import SCRATCH_VARIABLE

# No module and no background job of a play is expected to run for longer.
_TOO_OLD_S = 2 * 86400.0
_SERVER = re.compile(r'^ +server: (".+")$', re.MULTILINE)


@contextlib.contextmanager
def scratch(prepared: PreparedRun, settings: RunnerSettings) -> Iterator[dict[str, str]]:
    """The run's environment with a scratch folder, which goes afterwards where nothing is in it."""
    held = LockedFolder(RUN_PREFIX, prepared.env.get("TMPDIR"))
    folder = held.path
    discovery = _discovery_files(prepared)
    ours = {
        "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
        # Named after the server's URL, which carries the run's password: of no use to any other run.
        "KUBECACHEDIR": str(folder / "kube"),
    }
    if settings.inventory is None:  # it would hold for remote hosts too
        ours["ANSIBLE_REMOTE_TEMP"] = str(folder / "remote")
    try:
        yield {**ours, **prepared.env, SCRATCH_VARIABLE: str(folder)}
    finally:
        with contextlib.suppress(OSError):  # a run that went well is not lost to it
            remove(folder / "kube")
            for path in discovery:
                path.unlink(missing_ok=True)
        for path in (folder / "local", folder / "remote", folder):
            with contextlib.suppress(OSError):
                path.rmdir()
        held.let_go()


def _discovery_files(prepared: PreparedRun) -> list[Path]:
    """Where modules of kubernetes.core may keep discovery under this run's credential."""
    temporary = Path(prepared.env.get("TMPDIR") or tempfile.gettempdir())
    users = {str(os.getuid()), prepared.env.get("USERNAME", "")}
    with contextlib.suppress(OSError):  # without a login
        users.add(os.getlogin())
    try:
        servers = _SERVER.findall(prepared.request.kubeconfig.read_text())
    except OSError:
        return []
    # Root is no user to them, as its number is 0.
    keys = [f"{json.loads(server)}-{user}".rstrip("-") for server in servers for user in users]
    return [temporary / f"k8srcp-{hashlib.sha256(key.encode()).hexdigest()}.json" for key in keys]


def sweep_leftovers(env: Mapping[str, str], now: float) -> None:
    """Remove what killed plays left in shared folders long ago. `now` counts from the epoch.

    Not `ansible-local-*` of the user's own Ansible: runs have theirs in the scratch folder.
    """

    def is_old(path: Path) -> bool:
        found = path.lstat()
        return found.st_uid == os.geteuid() and now - found.st_mtime > _TOO_OLD_S

    temporary = Path(env.get("TMPDIR") or tempfile.gettempdir())
    ansibles = Path(env.get("HOME", "/nonexistent")) / ".ansible" / "tmp"
    remove_old_runs(temporary, is_old)
    for folder, pattern in ((temporary, "ansible_*_payload_*"), (ansibles, "ansible-tmp-*")):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if is_old(path):
                    remove(path)
