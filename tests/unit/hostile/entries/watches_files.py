"""`watches.yaml`: a file, and an environment that is spliced into it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.errors import ProblemsError
from rolecall.extending import watch_keys
from rolecall.watches import WatchDefaults, load_watches
from tests.unit.hostile.dice import TEXTS, Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must

_DEFAULTS = WatchDefaults(max_concurrent_reconciles=4)
_PLAIN: dict[str, Any] = {
    "version": "v1",
    "group": "demo.example.com",
    "kind": "App",
    "role": "app",
}
_MORE: dict[str, Any] = {
    "playbook": "play.yml",
    "vars": {"a": 1, "b": ["{{ x }}", {"c": None}]},
    "maxRunnerArtifacts": 3,
    "reconcilePeriod": "1m",
    "manageStatus": True,
    "watchDependentResources": False,
    "watchClusterScopedResources": True,
    "snakeCaseParameters": False,
    "markUnsafe": True,
    "watchAnnotationsChanges": True,
    "selector": {
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "x", "operator": "In", "values": ["1"]}],
    },
    "finalizer": {"name": "demo.example.com/x", "role": "app", "vars": {"state": "absent"}},
    "blacklist": [{"group": "", "version": "v1", "kind": "Pod"}],
    "prune": True,
    "mode": "observe",
    "runner": "warm",
    "timeout": "10m",
    "validate": {"role": "app", "operations": ["CREATE"], "timeout": "5s", "rules": []},
    "mutate": {"playbook": "play.yml", "failurePolicy": "Ignore"},
}
_ODD_ENTRIES = (
    "&a\n- *a\n",
    "- &a {version: v1, kind: A, role: app, vars: &v {x: *v}}\n",
    "- <<: {version: v1}\n  kind: A\n  role: app\n",
    "- <<: [1]\n  kind: A\n",
    "- ? [a]\n  : b\n",
    "- !!python/object/apply:os.system ['touch /tmp/hostile-was-here']\n",
    "- !!binary aGk=\n",
    "%YAML 9.9\n---\n- a: b\n",
    "- kind: !!int x\n",
    "- {version: !!float x, kind: !!bool x, role: !!null x}\n",
    "- vars: " + "[" * 300 + "]" * 300 + "\n",
    "- vars:\n" + "".join(f"{'  ' * depth}a:\n" for depth in range(1, 250)),
    "a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n",
    "- vars: &a [x, x]\n- vars: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n- vars: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
    "- vars: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n- vars: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n"
    "- vars: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n- vars: &g [*f,*f,*f,*f,*f,*f,*f,*f]\n",
)


def _make(dice: Dice) -> dict[str, Any]:
    entries: list[Any] = []
    for _ in range(dice.number(1, 3)):
        entry = dict(_PLAIN, kind=dice.pick(("App", "Bpp", "Cpp")))
        entry |= {key: _MORE[key] for key in dice.some(tuple(_MORE), 5)}
        entries.append(dice.changed(entry, dice.pick((0.0, 0.03, 0.1))))
    text = _yaml(entries, dice)
    if dice.happens(0.3):
        text += dice.pick(_ODD_ENTRIES)
    if dice.happens(0.4):
        text = dice.damaged(text)
    names = ("HOME", "X", "NAME", "PATH")
    return {"text": text, "environment": {name: dice.text() for name in dice.some(names, 2)}}


def _yaml(value: Any, dice: Dice, indent: int = 0) -> str:
    """YAML that looks as people write it, wrong quotes included: scalars are mostly left plain."""
    pad = "  " * indent
    if isinstance(value, dict) and value and indent < 8:
        rows = (
            f"{pad}{_plain(key, dice)}:{_below(item, dice, indent)}" for key, item in value.items()
        )
        return "".join(rows)
    if isinstance(value, list) and value and indent < 8:
        return "".join(f"{pad}-{_below(item, dice, indent)}" for item in value)
    return f"{pad}{json.dumps(value)}\n"


def _below(value: Any, dice: Dice, indent: int) -> str:
    if isinstance(value, (dict, list)) and value and indent < 8:
        return f"\n{_yaml(value, dice, indent + 1)}"
    return f" {_plain(value, dice)}\n"


def _plain(value: Any, dice: Dice) -> str:
    if isinstance(value, str) and dice.happens(0.7):
        return value
    if dice.happens(0.02):
        return dice.pick(TEXTS)
    return json.dumps(value)


@contextmanager
def _open(folder: Path) -> Iterator[Check]:
    (folder / "roles" / "app" / "tasks").mkdir(parents=True)
    (folder / "play.yml").write_text("- hosts: localhost\n")
    file = folder / "watches.yaml"

    def check(case: Any) -> bool:
        data = case["text"].encode("utf-8", "surrogatepass")
        file.write_bytes(data)
        lines = case["text"].count("\n") + sum(map(case["text"].count, "\r\x85\u2028\u2029")) + 1
        is_accepted = True
        try:
            watches, problems = load_watches(
                Path("watches.yaml"), case["environment"], _DEFAULTS, folder, watch_keys()
            )
        except ProblemsError as refusal:
            is_accepted, problems = False, list(refusal.problems)
            must(any(not problem.is_warning for problem in problems), "a refusal names an error")
            must(str(refusal), "a refusal says something")
        else:
            must(all(problem.is_warning for problem in problems), "what is loaded has no errors")
            must(len({watch.gvk for watch in watches}) == len(watches), "one watch for each kind")
            for watch in watches:
                must(watch.gvk.kind and watch.gvk.version, "a watch has a kind and a version")
                must(watch.play.path.exists(), "a watch's role or playbook is there")
                json.dumps(watch.vars, allow_nan=False)
        for problem in problems:
            must(problem.line is None or 1 <= problem.line <= lines, "a problem is in the file")
        return is_accepted

    yield check


WATCHES = EntryPoint("watches", _make, _open, cases=1200)
