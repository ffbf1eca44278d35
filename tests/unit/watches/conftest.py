from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with one role and one playbook, both named demo."""
    (tmp_path / "roles/demo/tasks").mkdir(parents=True)
    (tmp_path / "roles/demo/tasks/main.yml").write_text("[]\n")
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks/demo.yml").write_text("- {hosts: localhost, tasks: []}\n")
    return tmp_path
