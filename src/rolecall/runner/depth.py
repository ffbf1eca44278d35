"""The path under which a play sees its inventory: as deep as in the Go operator's folder.

Roles of existing operators split `inventory_file` by `/` and take group, version and kind from the
fourth to the sixth part. So where the artifacts folder is deeper or less deep than
`/tmp/ansible-operator/runner`, the play reads its inventory through a link that has this depth. The
link is the run's own and goes with it; one that a killed engine left goes with its folder.

Rejected: one link for each artifacts folder, which stays behind; and `inventory_file` as a variable of
the host, which names a file that is not there.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rolecall.log_fields import log_fields
from rolecall.runner.folders import remove
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.temporary import COMMAND_PREFIX, LockedFolder
from rolecall.settings import RunnerSettings

_DEPTH = len(RunnerSettings().root.parts)
_PARENTS_DEPTH = _DEPTH - 2  # the parent of a folder with a link
_USUAL_PARENT = "/tmp"  # noqa: S108 - the folder in it is made by mkdtemp
_logger = logging.getLogger(__name__)


@contextlib.contextmanager
def at_usual_depth(prepared: PreparedRun, settings: RunnerSettings) -> Iterator[PreparedRun]:
    """The same run with its inventory at the usual depth."""
    root = settings.root.absolute()
    inventory = str(prepared.private_dir.absolute() / "inventory")
    is_of_a_cr = prepared.private_dir.absolute().is_relative_to(root)
    if len(root.parts) == _DEPTH or not is_of_a_cr or prepared.request.folder is not None:
        yield prepared
        return
    held = _folder_for_link(prepared.env.get("TMPDIR") or tempfile.gettempdir())
    if held is None:
        _logger.debug(
            "`inventory_file` has another depth than with the Go operator",
            extra=log_fields(folder=str(root), hint="make /tmp writable"),
        )
        yield prepared
        return
    link = held.path / root.name
    try:
        link.symlink_to(root)
        seen = str(link / os.path.relpath(inventory, root))
        command = tuple(seen if word == inventory else word for word in prepared.command)
        yield replace(prepared, command=command)
    finally:
        with contextlib.suppress(OSError):
            remove(held.path)
        held.let_go()


def _folder_for_link(temporary: str) -> LockedFolder | None:
    for parent in (temporary, _USUAL_PARENT):
        if len(Path(parent).parts) == _PARENTS_DEPTH:
            with contextlib.suppress(OSError):
                return LockedFolder(COMMAND_PREFIX, parent)
    return None
