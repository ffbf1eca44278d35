"""The inventory of a run: `localhost` with our own Python, or a copy of what ANSIBLE_INVENTORY names.

Built anew for each run, so that nothing of another inventory survives a switch. A custom inventory
gets one more file, read before all others: it gives local hosts that name no interpreter the engine's
own Python. Ansible would look for one itself, and often finds a Python without the Kubernetes client.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from rolecall.runner.folders import CannotStartError, make_private, remove, write_private

# Sorts before what people name their files; Ansible reads a folder's files in this order and lets later
# ones win. No suffix: Ansible skips `.ini` and its like.
_DEFAULTS_FILE = "000-rolecall-interpreter"
_DEFAULTS = """\
# Written by rolecall for each run. Any variable of your own inventory overrides it.
[all:vars]
ansible_python_interpreter={{{{ {python} if {is_local} else ({configured}) }}}}
"""
_IS_LOCAL = (
    "ansible_connection | default('') == 'local'"
    " or inventory_hostname in ['localhost', '127.0.0.1', '::1']"
)
# What Ansible would have taken for other hosts; not from its `config` lookup, which asks this variable.
_CONFIGURED = (
    "lookup('ansible.builtin.env', 'ANSIBLE_PYTHON_INTERPRETER') or"
    " (lookup('ansible.builtin.ini', 'interpreter_python', section='defaults', default='auto',"
    " file=ansible_config_file) if ansible_config_file | default('', true) else 'auto')"
)


def write_inventory(private_dir: Path, custom: Path | None, virtual_env: str) -> None:
    folder = private_dir / "inventory"
    try:
        remove(folder)
        if custom is None:
            make_private(private_dir, folder)
            python = (
                f"{virtual_env}/bin/python3" if virtual_env else "{{ ansible_playbook_python }}"
            )
            write_private(
                folder / "hosts",
                f"localhost ansible_connection=local ansible_python_interpreter={_quoted(python)}\n",
            )
            return
        _copy(custom, folder)
        python = repr(f"{virtual_env}/bin/python3") if virtual_env else "ansible_playbook_python"
        defaults = _DEFAULTS.format(python=python, is_local=_IS_LOCAL, configured=_CONFIGURED)
        write_private(folder / _DEFAULTS_FILE, defaults)
    except OSError as error:
        raise CannotStartError(
            f"the inventory `{custom or folder}` could not be prepared: {error.strerror}",
            hint="correct ANSIBLE_INVENTORY of the engine: a file or a folder",
        ) from error


def _copy(custom: Path, folder: Path) -> None:
    """Copy a folder, or one file as `hosts`; modes stay, since inventories may be programs."""
    if custom.is_dir():
        shutil.copytree(custom, folder, symlinks=False, dirs_exist_ok=False)
    else:
        folder.mkdir(mode=0o700)
        shutil.copy2(custom, folder / "hosts")
    folder.chmod(0o700)


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text
