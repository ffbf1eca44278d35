"""Every setting of ansible-core that can change a play has a case, or a reason why it has none.

`settings.yml` decides; a new setting of another ansible-core fails here until it is listed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from rolecall.runner.warm.fingerprint import _NAMES_PATHS
from tests.play.fidelity.harness import CASES

_HERE = Path(__file__).parent
_DECIDED: dict[str, dict[str, Any]] = yaml.safe_load((_HERE / "settings.yml").read_text())
_WITH_CASE: dict[str, list[str]] = _DECIDED["cases"]
_WITHOUT: dict[str, list[str]] = _DECIDED["none"]
_SETTINGS: dict[str, Any] = yaml.safe_load(
    (Path(ansible.__file__).parent / "config" / "base.yml").read_text()
)


def test_each_setting_is_decided_once() -> None:
    decided = [name for names in (*_WITH_CASE.values(), *_WITHOUT.values()) for name in names]
    assert sorted(_SETTINGS.keys() - decided) == [], "no case and no reason in settings.yml"
    assert len(decided) == len(set(decided)), "decided twice"


@pytest.mark.parametrize("group", _WITH_CASE)
def test_group_sets_what_it_is_said_to_set(group: str) -> None:
    text = (CASES / f"{group}.yml").read_text()
    missing = [
        name
        for name in _WITH_CASE[group]
        if name in _SETTINGS and not _is_set(_SETTINGS[name], text)
    ]
    assert missing == []


def _is_set(setting: dict[str, Any], text: str) -> bool:
    variables = [f"{entry['name']}:" for entry in setting.get("env", ())]
    keys = [f"{entry['key']} =" for entry in setting.get("ini", ())]
    return any(re.search(rf"^[\s{{]*{re.escape(said)}", text, re.M) for said in (*variables, *keys))


def test_settings_that_name_paths_are_known_by_name() -> None:
    """Where one is relative, each folder that runs start in has a host of its own."""
    named = {
        entry["name"]
        for setting in _SETTINGS.values()
        if str(setting.get("type", "")).startswith("path")
        for entry in setting.get("env", ())
    }
    assert sorted(name for name in named if not _NAMES_PATHS.search(name)) == []
