"""What a test file says together with its helpers: modules it imports, fixtures it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from tools.affected.facts import Facts, facts_of
from tools.placement import ROOT, test_files

_PLUGIN = re.compile(r'"(tests\.fixtures\.\w+)"')
# Only these have all their tests in `make test-all`.
NIGHTLY_TIERS = ("tests/browser/", "tests/real/")


def nightly_files() -> list[str]:
    """Test files with nightly tests."""
    return [file for file in test_files() if has_nightly(file)]


def has_nightly(file: str) -> bool:
    """Whether `make test` leaves something of it out."""
    return file.startswith(NIGHTLY_TIERS) or "nightly" in facts_of(ROOT / file).attributes


@cache
def helpers_of(file: str) -> tuple[str, ...]:
    """Modules of tests that it needs: what they import, and who defines the fixtures that they use."""
    seen: set[str] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        facts = facts_of(ROOT / path)
        waiting += [found for name in facts.imports if (found := _file_of(name))]
        waiting += [
            other
            for other in (*_conftests(path), *_plugins())
            if facts_of(ROOT / other).fixtures & facts.arguments
        ]
    return tuple(sorted(seen - {file}))


def facts_with_helpers(file: str) -> Facts:
    """All that they say together, with the projects that they name."""
    found = Facts()
    for path in (file, *helpers_of(file)):
        facts = facts_of(ROOT / path)
        found.add(facts)
        for watches in _projects(path, facts):
            for entry in yaml.safe_load(watches.read_text()):
                found.keys.update(entry)
    return found


def _projects(path: str, facts: Facts) -> Iterator[Path]:
    """The watches.yaml of each folder beside a module that it names."""
    folder = (ROOT / path).parent
    for text in sorted(facts.texts):
        if re.fullmatch(r"[\w-]+", text) and (folder / text / "watches.yaml").is_file():
            yield folder / text / "watches.yaml"


def _file_of(name: str) -> str:
    """The file of an imported name of tests, itself or the module that it is in; else empty."""
    for dotted in (name, name.rpartition(".")[0]):
        path = Path(*dotted.split("."))
        if path.parts[:1] == ("tests",) and (ROOT / path.with_suffix(".py")).is_file():
            return str(path.with_suffix(".py"))
    return ""


def _conftests(path: str) -> Iterator[str]:
    for folder in Path(path).parents:
        conftest = folder / "conftest.py"
        if folder.parts and (ROOT / conftest).is_file():
            yield str(conftest)


@cache
def _plugins() -> tuple[str, ...]:
    text = (ROOT / "tests" / "conftest.py").read_text()
    return tuple(f"{name.replace('.', '/')}.py" for name in _PLUGIN.findall(text))
