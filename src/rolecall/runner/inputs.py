"""Turns a request into a private folder, a command line and an environment: all that a start needs.

Both ways of starting a run share this, so they cannot differ in what a play is given. Directory,
environment and command line come from ansible-runner's own `RunnerConfig`; what is added here are the
files that it reads, and a handful of variables. Every file is written anew for each run: whatever the
run before needed and this one does not, is gone.

Rejected: ansible-runner's `interface.run()` and its command line, which print, install signal
handlers and rewrite `env/envvars` under a run in flight.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rolecall.log_fields import log_fields
from rolecall.runner.contract import RunRequest
from rolecall.runner.folders import (
    CannotStartError,
    cannot_write,
    make_private,
    private_dir_of,
    remove,
    write_private,
)
from rolecall.runner.inventory import write_inventory
from rolecall.runner.params import extra_vars
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from rolecall_base.variables import PLAN_VARIABLE

if TYPE_CHECKING:
    from ansible_runner.config.runner import RunnerConfig

_logger = logging.getLogger(__name__)

# Collections for projects that did not install their own. On PYTHONPATH and not in
# ANSIBLE_COLLECTIONS_PATH, because Ansible looks at Python's path last: whatever a project's own
# ansible.cfg or environment configures, wins without our having to know it.
BUNDLED_COLLECTIONS = Path(__file__).parent.parent / "collections"

# kubectl cannot open a WebSocket to a server whose URL carries a password, as ours must; by the older
# protocol, exec and port-forward work.
_KUBECTL = {
    "KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false",
    "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false",
}


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """Everything is on disk; what is left is to run `command` in `cwd` with exactly `env`."""

    request: RunRequest
    play: Play  # the finalizer's where this is a finalizer run that has one
    private_dir: Path  # .../<group>/<version>/<Kind>/<namespace>/<name>
    artifacts: Path  # <private_dir>/artifacts/<run_id>, made, 0700
    command: tuple[str, ...]  # `ansible-playbook ...`, as RunnerConfig built it
    env: dict[str, str]  # the whole environment of the child, PATH included
    cwd: Path  # <private_dir>/project
    config: RunnerConfig
    role_play: Path | None = None  # the play that was written for a role

    def clean_up(self) -> None:
        """Remove what only this run needed (the synthesized play of a role)."""
        if self.role_play is not None:
            self.role_play.unlink(missing_ok=True)


def prepare(request: RunRequest, settings: RunnerSettings) -> PreparedRun:
    """Write the private folder of the CR and compute what to start; raises `CannotStartError`.

    Touches the disk (about 1 ms); call it from a thread where the loop matters.
    """
    play = _play_of(request)
    folder = private_dir_of(settings.root, request)
    try:
        return _prepare(request, settings, play, folder)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _prepare(
    request: RunRequest, settings: RunnerSettings, play: Play, folder: Path
) -> PreparedRun:
    make_private(settings.root, folder)
    for part in ("env", "project", "artifacts"):
        make_private(folder, folder / part)
    _write_env(folder / "env", request, settings)
    # Not settings that are read past `settings`: plays inherit the engine's environment, whole.
    environment = {**os.environ, **settings.environment}
    write_inventory(folder, settings.inventory, environment.get("VIRTUAL_ENV", ""))
    _show_main_playbook(folder / "project", request.terms.main or request.terms.play)
    role_play = _write_role_play(folder / "project", request, play, settings)
    environment |= _search_paths(settings, play, environment)
    environment = {**_KUBECTL, **environment}
    environment.pop(PLAN_VARIABLE, None)
    if request.plan_notes is not None:
        environment[PLAN_VARIABLE] = str(request.plan_notes)
    config = _config(request, play, folder, environment)
    config.playbook = str(role_play or play.path)
    try:
        config.prepare()
    except ValueError as error:  # shlex, about the quotes of --ansible-args
        raise CannotStartError(
            f"`--ansible-args` could not be read as a command line: {error}"
        ) from error
    # Its server would outlive plays and answer later ones with a credential that is no longer valid.
    config.env.pop("ENABLE_TURBO_MODE", None)
    # Ansible adds it to the `v`s of the command line, which hold all that was asked for.
    config.env.pop("ANSIBLE_VERBOSITY", None)
    return PreparedRun(
        request=request,
        play=play,
        private_dir=folder,
        artifacts=Path(config.artifact_dir),
        command=(_ansible_playbook(config.env), *config.command[1:]),
        env=config.env,
        cwd=Path(config.cwd),
        config=config,
        role_play=role_play,
    )


def _play_of(request: RunRequest) -> Play:
    play = request.terms.play
    # As it was resolved when the engine started; a role may have gone since.
    play = replace(play, path=Path(os.path.normpath(play.path.absolute())))
    if not (play.path.is_dir() if play.is_role else play.path.is_file()):
        what = "role" if play.is_role else "playbook"
        raise CannotStartError(f"{what} `{play.path}` was not found")
    return play


def _write_env(folder: Path, request: RunRequest, settings: RunnerSettings) -> None:
    try:
        variables = extra_vars(request, trust_cr_text=settings.trust_cr_text)
        text = variables.dump()
    except RecursionError as error:
        raise CannotStartError("the object is nested too deeply to be handed to a play") from error
    if variables.withheld:
        cr = request.cr["metadata"]
        _logger.warning(
            "keys of spec that would change settings of ansible were not passed to the play",
            extra=log_fields(
                kind=request.terms.gvk.kind,
                namespace=cr.get("namespace", ""),
                name=cr.get("name"),
                keys=", ".join(variables.withheld),
            ),
        )
    write_private(folder / "extravars", text)
    envvars = dict.fromkeys(("K8S_AUTH_KUBECONFIG", "KUBECONFIG"), str(request.kubeconfig))
    write_private(folder / "envvars", json.dumps(envvars))
    # Always written: one that the Go operator left behind would name a socket that is gone.
    write_private(folder / "settings", json.dumps({"suppress_ansible_output": True}))
    arguments = settings.ansible_args
    if len(arguments) > 1 and arguments[0] == arguments[-1] == "'":
        arguments = arguments[1:-1]
    if arguments:
        write_private(folder / "cmdline", arguments)
    else:
        remove(folder / "cmdline")


def _show_main_playbook(project: Path, main: Play) -> None:
    """Keep a copy of the main playbook for readers of the folder; nothing runs it."""
    if main.is_role:
        remove(project / "playbook.yaml")
        return
    with contextlib.suppress(OSError):
        write_private(project / "playbook.yaml", main.path.read_text(errors="replace"))


def _write_role_play(
    project: Path, request: RunRequest, play: Play, settings: RunnerSettings
) -> Path | None:
    """Write the play that ansible-runner synthesizes for a role; a role's full name keeps its home."""
    if not play.is_role:
        return None
    roles = [{"name": play.fqcn or play.path.name}]
    # Facts of this machine say nothing of an object, and cost a third of the time of a short play.
    facts = not settings.skip_facts and not request.is_awaited
    path = project / request.run_id
    write_private(path, json.dumps([{"hosts": "localhost", "gather_facts": facts, "roles": roles}]))
    return path


def _config(
    request: RunRequest, play: Play, folder: Path, environment: dict[str, str]
) -> RunnerConfig:
    # Here and not on top: 0.1 s that `rolecall check` and `--help` need not pay.
    from ansible_runner.config.runner import RunnerConfig  # noqa: PLC0415

    return RunnerConfig(
        private_data_dir=str(folder),
        ident=request.run_id,
        verbosity=request.verbosity if request.verbosity > 0 else None,
        envvars=environment,
        roles_path=f"{play.path.parent}/" if play.is_role else None,
        rotate_artifacts=0,  # ours is safer, and knows age and bytes
    )


def _search_paths(
    settings: RunnerSettings, play: Play, environment: Mapping[str, str]
) -> dict[str, str]:
    paths: dict[str, str] = {}
    if settings.roles_path:
        paths["ANSIBLE_ROLES_PATH"] = settings.roles_path
    if settings.collections_path:
        paths["ANSIBLE_COLLECTIONS_PATH"] = settings.collections_path
    home = [str(_collections_root(play))] if play.fqcn else []
    paths["PYTHONPATH"] = os.pathsep.join(
        part
        for part in (environment.get("PYTHONPATH", ""), *home, str(BUNDLED_COLLECTIONS))
        if part
    )
    return paths


def _collections_root(play: Play) -> Path:
    """The folder above `ansible_collections/<namespace>/<collection>/roles/<role>`."""
    return play.path.parents[4] if len(play.path.parents) > 4 else play.path.parent


def _ansible_playbook(env: dict[str, Any]) -> str:
    """The one beside our own Python, so that an engine whose venv is not on PATH works too."""
    beside = Path(sys.executable).parent / "ansible-playbook"
    found = str(beside) if beside.exists() else shutil.which("ansible-playbook", path=env["PATH"])
    if not found:
        raise CannotStartError(
            "`ansible-playbook` was not found beside the engine or on PATH",
            hint="install ansible-core into the engine's environment",
        )
    return found
