"""`inventory_file` split by `/` has the same parts at the same places in every artifacts folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.runner.depth import at_usual_depth
from rolecall.runner.inputs import prepare
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from tests.unit.runner.cases import app, run_request

USUAL = RunnerSettings().root
KINDS = (Gvk("demo.example.com", "v1", "App"), Gvk("", "v1", "ConfigMap"))


@pytest.mark.parametrize("below", ["a", "a/b", "a/b/c", "a/b/c/d", "a b/c/d/e/f", ""])
@pytest.mark.parametrize("gvk", KINDS, ids=lambda gvk: gvk.kind)
@pytest.mark.parametrize("has_own_inventory", [True, False])
def test_parts_of_the_inventorys_path_are_those_of_the_usual_folder(
    tmp_path: Path, below: str, gvk: Gvk, has_own_inventory: bool
) -> None:
    role, own = tmp_path / "roles" / "app", tmp_path / "hosts"
    role.mkdir(parents=True)
    own.write_text("localhost\n")
    root = (
        tmp_path / below if below else Path(tempfile.mkdtemp(prefix="rolecall-depth-", dir="/tmp"))
    )
    settings = RunnerSettings(root=root, inventory=own if has_own_inventory else None)
    request = run_request(app(), play=Play(role, is_role=True), gvk=gvk)
    with at_usual_depth(prepare(request, settings), settings) as prepared:
        seen = Path(prepared.command[prepared.command.index("-i") + 1])
        usual = USUAL.joinpath(*filter(None, (gvk.group, gvk.version, gvk.kind)), "demo", "shop")
        assert str(seen / "hosts").split("/")[4:] == str(usual / "inventory/hosts").split("/")[4:]
        assert seen.samefile(prepared.private_dir / "inventory")
    assert prepared.command[-1] == str(prepared.role_play)
    assert not Path(*seen.parts[:3]).exists()
    if not below:
        shutil.rmtree(root)
