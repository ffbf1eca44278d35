from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import Problem, ProblemsError
from rolecall.watches import WatchDefaults, load_watches
from tests.unit.watches.cases import Case, described, load, read_cases

ACCEPTED = read_cases("accepted")
REFUSED = read_cases("refused")


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name)
def test_file_is_accepted(case: Case, project: Path) -> None:
    loaded = load(case, project)

    assert [str(error) for error in loaded.errors] == []
    assert_each_in(case.warns, loaded.warnings)
    assert len(loaded.watches) == len(case.gives)
    for watch, wanted in zip(loaded.watches, case.gives, strict=True):
        assert described(watch, project, list(wanted)) == wanted


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_file_is_refused(case: Case, project: Path) -> None:
    loaded = load(case, project)

    assert_each_in(case.says, loaded.errors)
    assert_each_in(case.warns, loaded.warnings)


def assert_each_in(wanted: list[str], found: list[Problem]) -> None:
    texts = [str(problem) for problem in found]
    assert len(texts) == len(wanted), texts
    missing = [piece for piece in wanted if not any(piece in text for text in texts)]
    assert missing == [], texts


def test_refused_files_report_problems_from_top_to_bottom(project: Path) -> None:
    for case in REFUSED:
        lines = [problem.line or 0 for problem in load(case, project).errors]
        assert lines == sorted(lines), case.name


def test_missing_file_says_which_flag_names_it(tmp_path: Path) -> None:
    with pytest.raises(
        ProblemsError, match=r"nowhere\.yaml: could not be read: No such file"
    ) as info:
        load_watches(Path("nowhere.yaml"), {}, WatchDefaults(), tmp_path, ())

    assert "--watches-file" in str(info.value)
    assert info.value.exit_code == 2


def test_text_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "watches.yaml").write_bytes(b"- version: v1\n  kind: \xff\n")

    with pytest.raises(ProblemsError, match=r"watches\.yaml:2: is not UTF-8 text"):
        load_watches(Path("watches.yaml"), {}, WatchDefaults(), tmp_path, ())


@pytest.mark.slow
def test_absurd_nesting_is_refused_not_crashed_on(tmp_path: Path) -> None:
    (tmp_path / "watches.yaml").write_text("[" * 5000)

    with pytest.raises(ProblemsError, match="is not valid YAML"):
        load_watches(Path("watches.yaml"), {}, WatchDefaults(), tmp_path, ())


def test_flags_set_what_neither_entry_nor_environment_says(project: Path) -> None:
    (project / "watches.yaml").write_text("- {version: v1, kind: Demo, role: demo}\n")
    flags = WatchDefaults(reconcile_period_s=0.0, max_concurrent_reconciles=0, verbosity=4)

    (watch,), _ = load_watches(Path("watches.yaml"), {}, flags, project, ())

    assert watch.reconcile_period_s == 0.0
    assert watch.max_concurrent_reconciles == 1  # below one nothing would ever run
    assert watch.verbosity == 4


@pytest.mark.parametrize(
    ("is_flag_set", "environment", "is_set"),
    [
        (False, {}, False),
        (True, {}, True),
        (False, {"MAX_CONCURRENT_RECONCILES_DEMO_": "3"}, True),
        (False, {"MAX_CONCURRENT_RECONCILES_DEMO_": "-1"}, False),
    ],
)
def test_limit_of_a_kind_is_known_to_be_set_or_the_default(
    project: Path, is_flag_set: bool, environment: dict[str, str], is_set: bool
) -> None:
    (project / "watches.yaml").write_text("- {version: v1, kind: Demo, role: demo}\n")
    flags = WatchDefaults(is_concurrency_set=is_flag_set)
    (watch,), _ = load_watches(Path("watches.yaml"), environment, flags, project, ())
    assert watch.is_concurrency_set is is_set


def test_byte_order_mark_and_windows_line_ends_are_fine(project: Path) -> None:
    text = "\ufeff- version: v1\r\n  kind: Demo\r\n  role: demo\r\n  runner: x\r\n"
    (project / "watches.yaml").write_bytes(text.encode())

    with pytest.raises(ProblemsError, match=r"watches\.yaml:4: runner `x`"):
        load_watches(Path("watches.yaml"), {}, WatchDefaults(), project, ())
