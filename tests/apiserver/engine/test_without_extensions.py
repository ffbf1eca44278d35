"""An engine from which extensions were deleted runs plays on a real API server."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from tests.fixtures.without_extensions import NAMES, copy_without, run_tests

_FILE = "tests/apiserver/engine/test_scripted_runs.py"
# Others restart an engine that prunes, or skips.
_OF_THE_CORE = (
    "test_scripted_run_gets_the_variables_of_a_role",
    "test_failures_of_a_script_are_judged_as_those_of_a_play",
    "test_deleted_cr_has_a_run_of_its_finalizer",
    "test_run_is_cancelled_when_the_engine_stops",
)
pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("deleted", [["prune"], NAMES], ids=["prune", "all"])
def test_scripted_runs_need_no_extension(deleted: Collection[str], tmp_path: Path) -> None:
    environment = copy_without(deleted, tmp_path)
    run_tests(environment, tmp_path, *(f"{_FILE}::{name}" for name in _OF_THE_CORE))
