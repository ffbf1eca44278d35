"""Files of handlers, read as text: what is found, and what is reported with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.handler_files import AskedKind, KnownKind, check_handlers, read_handlers

WEBSITE = KnownKind(Gvk("example.com", "v1", "Website"), frozenset({"websites", "website", "ws"}))
GOOD = """\
import kopf as k
from kopf import on, timer


@k.on.create("websites")
@on.update("example.com", "v1", "websites")
def made(patch, **_):
    patch.status["reachable"] = True


@timer(kind="Website", interval=5)
async def poll(**_): ...


@k.on.field("ws", field="spec.url", id="moved")
def url(**_): ...


@k.index("websites.example.com")
def known(**_): ...
"""


def reported(folder: Path, text: str, kind: KnownKind = WEBSITE) -> list[str]:
    file = folder / "handlers.py"
    file.write_text(text)
    problems = check_handlers({file: [kind]}, folder)
    return [str(problem).partition("\n")[0] for problem in problems]


def test_handlers_are_found_under_whatever_name_kopf_was_imported(tmp_path: Path) -> None:
    file = tmp_path / "handlers.py"
    file.write_text(GOOD)

    found = [(each.line, each.decorator, each.id) for each in read_handlers(file).handlers]

    assert found == [
        (5, "create", "made"),
        (6, "update", "made"),
        (11, "timer", "poll"),
        (15, "field", "moved/spec.url"),
        (19, "index", "known"),
    ]
    assert reported(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "import kopf\n@kopf.on.create('pods')\ndef made(**_): ...",
            "handlers.py:2: handler `made` is for `pods`, which no watch with this file watches, so it"
            " would never run",
        ),
        (
            "import kopf\n@kopf.on.create('other.com', 'v1', 'websites')\ndef made(**_): ...",
            "handlers.py:2: handler `made` is for `websites.other.com v1`, which no watch with this"
            " file watches, so it would never run",
        ),
        (
            "import kopf\n@kopf.on.event(kopf.EVERYTHING)\ndef made(**_): ...",
            "handlers.py:2: handler `made` is for every kind",
        ),
        (
            "import kopf\nimport nothing_of_that_name\n@kopf.on.create('ws')\ndef made(**_): ...",
            "handlers.py:2: `nothing_of_that_name` is not installed here, so no handler starts",
        ),
        (
            "import kopf\n@kopf.on.login()\ndef login(**_): ...\n@kopf.timer('ws')\ndef x(**_): ...",
            "handlers.py:2: `kopf.on.login` is not supported beside roles",
        ),
        (
            "import kopf\n@kopf.on.validate('ws')\ndef valid(**_): ...",
            "handlers.py:2: handler `valid` names its kind as `ws`, which is read before the cluster"
            " is, so it would never be asked",
        ),
        (
            "import kopf\n@kopf.on.create('ws')\ndef made(**_): ...\nkopf.run()",
            "handlers.py:4: `kopf.run` is not supported beside roles",
        ),
        (
            "import kopf\n@kopf.on.startup()\ndef begin(settings, **_):\n"
            "    settings.peering.name = 'x'\n@kopf.on.create('ws')\ndef made(**_): ...",
            "handlers.py:4: `settings.peering.name` is not supported beside roles",
        ),
        (
            "import kopf\n@kopf.on.create('ws')\ndef made(patch, **_):\n"
            "    patch.status['conditions'] = []",
            "handlers.py:4: writes `status.conditions`, which are the operator's",
        ),
        (
            "import kopf\n@kopf.on.create('ws', id='x')\ndef made(**_): ...\n"
            "@kopf.on.update('ws', id='x')\ndef moved(**_): ...",
            "handlers.py:4: handler `x` has the id of the one at handlers.py:2, so one may never run",
        ),
        ("def (", "handlers.py:1: is not Python: invalid syntax, so no handler starts"),
        (
            "import kopf",
            "handlers.py: warning: has no handler that can be seen: nothing will act",
        ),
    ],
)
def test_fault_is_reported_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    assert reported(tmp_path, text) == [problem]


def test_all_faults_of_a_package_are_reported_at_once(tmp_path: Path) -> None:
    package = tmp_path / "site"
    package.mkdir()
    (package / "__init__.py").write_text("from . import one, two\n")
    (package / "one.py").write_text("import kopf\n@kopf.on.create('pods')\ndef a(**_): ...\n")
    (package / "two.py").write_text("import kopf\n@kopf.on.create('nodes')\ndef b(**_): ...\n")

    problems = check_handlers({package: [WEBSITE]}, tmp_path)

    assert [problem.place for problem in problems] == ["site/one.py:2", "site/two.py:2"]


@pytest.mark.parametrize(
    ("asked", "is_meant"),
    [
        (AskedKind("Website"), True),
        (AskedKind("ws"), True),
        (AskedKind("websites", "example.com", "v1"), True),
        (AskedKind("websites", "example.com", "v2"), False),
        (AskedKind("websites", "example.org"), False),
        (AskedKind("site"), False),
    ],
)
def test_kind_is_matched_as_kopf_does(asked: AskedKind, *, is_meant: bool) -> None:
    assert asked.matches(WEBSITE) is is_meant
