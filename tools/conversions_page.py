"""The reference page of conversions.yaml: its keys, and for each rule an example that was run.

Why: an example that is never run is wrong after the next change. What: `conversions_page()`, called by
`python -m tools.write_reference`. How: each example is loaded and converted here, there and back; the
page shows what came of it, and a test fails when page and code differ.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from rolecall.conversion import (
    CONVERSION_KEYS,
    RULE_KEYS,
    STEP_KEYS,
    Conversion,
    load_conversions,
)
from rolecall.documents import YamlKey
from rolecall.json_object import Json

# By rule: what it is for, how it is written, and the `spec` of an older object.
EXAMPLES: dict[str, tuple[str, str, Json]] = {
    "rename": (
        "A field has another name, or another place.",
        "rename: spec.size\nto: spec.replicas",
        {"size": 3},
    ),
    "split": (
        "A text becomes several fields. A text that does not fit is kept beside them.",
        'split: spec.image\nas: "{repository}:{tag}"\n'
        "into: {repository: spec.image.repository, tag: spec.image.tag}\nparts: {tag: '[^:/]+'}",
        {"image": "registry.example.com:5000/web:1.2"},
    ),
    "join": (
        "Several fields become one text: `split`, in the other direction.",
        'join: {host: spec.host, port: spec.port}\nas: "{host}:{port}"\nto: spec.target\n'
        "parts: {host: '[^:]+', port: '[0-9]+'}\nnumbers: [port]",
        {"host": "db", "port": 5432},
    ),
    "values": (
        "Values have other names; one that is not in the map stays what it is.",
        "values: spec.mode\nmap: {Always: Eager, Never: 'Off'}\nto: spec.policy",
        {"mode": "Always"},
    ),
    "wrap": (
        "One value becomes the first item of a list; further items are kept on the way back.",
        "wrap: spec.host\nto: spec.hosts",
        {"host": "a.example.com"},
    ),
    "entries": (
        "A map becomes a list of entries, sorted by key.",
        "entries: spec.env",
        {"env": {"MODE": "fast", "LEVEL": "2"}},
    ),
    "default": (
        "Only the newer version has the field; older objects get this value there.",
        "default: spec.strategy\nvalue: Rolling",
        {"size": 1},
    ),
    "keep": (
        "Only one version has the field: in the other one it waits in an annotation.",
        "keep: spec.debug\nof: v1",
        {"debug": True},
    ),
    "lose": (
        "Only one version has the field, and the other one loses it.",
        "lose: spec.comment\nof: v1",
        {"comment": "tried out"},
    ),
    "each": (
        "Rules for each item of a list that both versions have at the same place.",
        "each: spec.ports\nrules:\n  - {rename: number, to: port}",
        {"ports": [{"number": 80}, {"number": 443}]},
    ),
}
_HEAD = """\
# conversions.yaml

<!-- Made by tools/write_reference.py; edit the code instead. -->

How the versions of a kind become each other: a file beside `watches.yaml`, read by the operator at
its start. [The guide](../guides/versions.md) explains when you need it, and what else belongs to a
new version.

```yaml
# yaml-language-server: $schema=https://example.org/path/to/conversions.schema.json
- group: shop.example.com
  kind: Shop
  steps:
    - older: v1
      newer: v2
      rules:
        - {rename: spec.size, to: spec.replicas}
```

Rules stand for both directions. What no rule names is the same in both versions. What the other
side cannot hold is kept in an annotation (`conversion.rolecall.dev/VERSION`) and comes back with
the object, unless the field was changed there meanwhile; with `lossy: true` it is lost. Fields are
written with dots, `\\.` is a dot in a name; only fields of `spec` and `status` are converted.

`rolecall check` holds all of it against the CRDs and tries it with random objects; `rolecall
convert --file FILE --to VERSION` shows one. `rolecall check --print-schema=conversions` prints the
JSON Schema beside this page ([conversions.schema.json](conversions.schema.json)), with which
editors complete keys.
"""


def conversions_page() -> str:
    """The whole page."""
    parts = [
        _HEAD,
        "## Keys of an entry\n",
        _keys(CONVERSION_KEYS),
        "\n## Keys of a step\n",
        _keys(STEP_KEYS),
        "\n## Rules\n\nThe first key of a rule names what it does.\n",
        *(_rule(name) for name in RULE_KEYS),
    ]
    return "\n".join(parts).rstrip() + "\n"


def converted(name: str) -> tuple[Json, Json, Json]:
    """The example of a rule: the older object, the newer one, and the older one that came back."""
    _, rule, spec = EXAMPLES[name]
    conversion = _conversion(rule)
    older = {"apiVersion": "shop.example.com/v1", "kind": "Shop", "metadata": {}, "spec": spec}
    newer = conversion.convert(older, "v2")
    return older, newer, conversion.convert(newer, "v1")


def _conversion(rule: str) -> Conversion:
    step = textwrap.indent(rule, " " * 8).replace(" " * 8, "      - ", 1)
    head = "- group: shop.example.com\n  kind: Shop\n  steps:\n  - older: v1\n    newer: v2\n    rules:"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversions.yaml"
        file.write_text(f"{head}\n{step}\n")
        return load_conversions(file)[0]


def _rule(name: str) -> str:
    purpose, rule, _ = EXAMPLES[name]
    older, newer, _ = converted(name)
    shown = "\n".join(
        f"# {version}\n{_yaml(what)}" for version, what in (("v1", older), ("v2", newer))
    )
    text = textwrap.indent(rule, "  ").replace("  ", "- ", 1)
    return (
        f"### {name}\n\n{purpose}\n\n```yaml\n{text}\n```\n\n```yaml\n{shown.rstrip()}\n```\n\n"
        f"{_keys(RULE_KEYS[name])}"
    )


def _yaml(item: Json) -> str:
    """What is of interest: the spec, and what was kept."""
    shown: Json = {}
    if annotations := item["metadata"].get("annotations"):
        shown["metadata"] = {"annotations": annotations}
    if item.get("spec"):
        shown["spec"] = item["spec"]
    return yaml.safe_dump(shown, sort_keys=False, width=120) if shown else "spec: {}\n"


def _keys(keys: Sequence[YamlKey]) -> str:
    rows: list[tuple[Any, ...]] = [("key", "value", "default", "meaning"), ("---",) * 4]
    for key in keys:
        default = "required" if key.is_required else key.default
        rows.append((f"`{key.name}`", key.form.value, default, key.meaning))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
