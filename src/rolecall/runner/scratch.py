"""What a run makes for a while: a folder of its own, and what a killed play left elsewhere.

A play that is killed cannot tidy up, and its modules hold what they were given. So Ansible's own
temporary folders of a run lie in one scratch folder, and who ends the run removes it. One that ended by
itself leaves in there only what its background jobs need.

What an engine left that was killed itself, the next one removes at its start (`temporary`).

TMPDIR stays as it is: modules keep the API's discovery there, for the next run to find. What modules
unpack there and could not remove is therefore swept later, once it is too old to be anybody's.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rolecall.runner.folders import remove
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.temporary import RUN_PREFIX, SCRATCH_VARIABLE, HeldFolder

# No module and no background job of a play is expected to run for longer.
_TOO_OLD_S = 2 * 86400.0


@contextlib.contextmanager
def scratch(prepared: PreparedRun, *, has_own_inventory: bool) -> Iterator[dict[str, str]]:
    """The run's environment with a scratch folder, which goes afterwards where nothing is in it."""
    held = HeldFolder(RUN_PREFIX, prepared.env.get("TMPDIR"))
    folder = held.path
    ours = {
        "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
        # Named after the server's URL, which carries the run's password: of no use to any other run.
        "KUBECACHEDIR": str(folder / "kube"),
    }
    if not has_own_inventory:  # it would hold for remote hosts too
        ours["ANSIBLE_REMOTE_TEMP"] = str(folder / "remote")
    try:
        yield {**ours, **prepared.env, SCRATCH_VARIABLE: str(folder)}
    finally:
        with contextlib.suppress(OSError):  # a run that went well is not lost to it
            remove(folder / "kube")
        for path in (folder / "local", folder / "remote", folder):
            with contextlib.suppress(OSError):
                path.rmdir()
        held.let_go()


def sweep_leftovers(env: Mapping[str, str], now: float) -> None:
    """Remove what killed plays left in shared folders long ago. `now` counts from the epoch."""
    temporary = Path(env.get("TMPDIR") or tempfile.gettempdir())
    ansibles = Path(env.get("HOME", "/nonexistent")) / ".ansible" / "tmp"
    for folder, pattern in (
        (temporary, f"{RUN_PREFIX}*"),
        (temporary, "ansible_*_payload_*"),
        (ansibles, "ansible-tmp-*"),
        (ansibles, "ansible-local-*"),
    ):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                found = path.lstat()
                if found.st_uid == os.geteuid() and now - found.st_mtime > _TOO_OLD_S:
                    remove(path)
