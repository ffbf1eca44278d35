"""Objects go there and back, and nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.conversion import KEPT_PREFIX, Conversion, ConversionError, load_conversions
from rolecall.conversion.paths import ABSENT
from rolecall.conversion.rules import Part, Split
from rolecall.errors import ProblemsError
from rolecall.json_object import Json

FILE = """
- group: example.com
  kind: App
  steps:
  - older: v1alpha1
    newer: v1beta1
    rules:
    - rename: spec.size
      to: spec.replicas
    - split: spec.image
      as: "{repository}:{tag}"
      into: {repository: spec.image.repository, tag: spec.image.tag}
      parts: {tag: '[\\w.-]+'}
    - entries: spec.env
    - values: spec.mode
      map: {Fast: Eager, Slow: Lazy}
    - wrap: spec.host
      to: spec.hosts
    - default: spec.strategy
      value: RollingUpdate
    - keep: spec.legacy
      of: v1alpha1
    - lose: spec.debug
      of: v1alpha1
    - each: spec.ports
      rules:
      - rename: nr
        to: number
  - older: v1beta1
    newer: v1
    rules:
    - join: {repository: spec.image.repository, tag: spec.image.tag}
      as: "{repository}:{tag}"
      to: spec.source
"""

OLD: Json = {
    "apiVersion": "example.com/v1alpha1",
    "kind": "App",
    "metadata": {"name": "x", "annotations": {"mine": "stays"}},
    "spec": {
        "size": 3,
        "image": "registry:5000/app:1.0",
        "env": {"A": "1", "B": "2"},
        "mode": "Fast",
        "host": "a.example.com",
        "legacy": {"deep": [1, None]},
        "ports": [{"nr": 80, "name": "web"}, {"nr": 81}],
        "same": True,
    },
    "status": {"ready": 2},
}


@pytest.fixture
def app(tmp_path: Path) -> Conversion:
    file = tmp_path / "conversions.yaml"
    file.write_text(FILE)
    return load_conversions(file)[0]


def spec(**fields: object) -> Json:
    return {
        "apiVersion": "example.com/v1alpha1",
        "kind": "App",
        "metadata": {"name": "x"},
        "spec": fields,
    }


def test_each_rule_does_what_it_says(app: Conversion) -> None:
    new = app.convert(OLD, "v1beta1")
    assert new["apiVersion"] == "example.com/v1beta1"
    assert new["spec"] == {
        "replicas": 3,
        "image": {"repository": "registry:5000/app", "tag": "1.0"},
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "mode": "Eager",
        "hosts": ["a.example.com"],
        "strategy": "RollingUpdate",
        "ports": [{"number": 80, "name": "web"}, {"number": 81}],
        "same": True,
    }
    assert new["status"] == {"ready": 2}


@pytest.mark.parametrize("version", ["v1beta1", "v1"])
def test_object_comes_back_as_it_was_over_any_number_of_steps(
    app: Conversion, version: str
) -> None:
    assert app.convert(app.convert(OLD, version), "v1alpha1") == OLD


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"image": "a:b:c@d"},
        {"image": ""},
        {"image": "no-tag"},
        {"env": {}},
        {"env": None},
        {"mode": "Eager"},
        {"host": ""},
        {"ports": []},
        {"ports": [{}, "odd", {"number": 1, "nr": 2}]},
        {"legacy": None},
    ],
    ids=str,
)
def test_odd_object_comes_back_as_it_was(app: Conversion, fields: Json) -> None:
    old = spec(**fields)
    assert app.convert(app.convert(old, "v1"), "v1alpha1") == old


def test_what_the_older_version_cannot_hold_survives_it(app: Conversion) -> None:
    new = app.convert(OLD, "v1beta1")
    new["spec"]["hosts"].append("b.example.com")
    new["spec"]["strategy"] = "Recreate"
    new["spec"]["env"].append({"name": "C", "valueFrom": {"secret": "s"}})
    old = app.convert(new, "v1alpha1")
    assert old["spec"]["host"] == "a.example.com"
    assert app.convert(old, "v1beta1") == new


def test_edit_on_the_other_side_wins_over_what_was_kept(app: Conversion) -> None:
    new = app.convert(OLD, "v1beta1")
    new["spec"]["hosts"] = ["a.example.com", "b.example.com"]
    new["spec"]["strategy"] = "Recreate"
    old = app.convert(new, "v1alpha1")
    old["spec"]["host"] = "c.example.com"
    again = app.convert(old, "v1beta1")
    assert again["spec"]["hosts"] == ["c.example.com"]
    assert again["spec"]["strategy"] == "Recreate"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("app", ["app"]),
        ("reg:50/app:1", ["reg:50/app", "1"]),
        ("app@sha256:1f", ["app", None, "sha256:1f"]),
        ("reg:50/app:1@sha256:1f", ["reg:50/app", "1", "sha256:1f"]),
        ("a@b:c@d", ["a@b:c@d"]),
    ],
)
def test_any_part_of_a_text_but_the_first_may_be_missing(text: str, parts: list[str]) -> None:
    names = (("", "repository", r"\S+"), (":", "tag", r"\w+"), ("@", "digest", r"\w+:[0-9a-f]+"))
    split = Split(("image",), [Part(before, pattern, (name,)) for before, name, pattern in names])
    found = [None if value is ABSENT else value for value in split.up((text,))]
    assert found == parts + [None] * (3 - len(parts))
    assert split.down(split.up((text,))) == (text,)


def test_part_that_is_a_number_is_one_in_its_field() -> None:
    port = Part(":", "[0-9]+", ("port",), is_number=True)
    split = Split(("target",), [Part("", "[^:]+", ("host",)), port])
    assert split.up(("shop:80",)) == ("shop", 80)
    assert split.down(("shop", 80)) == ("shop:80",)
    assert split.up(("shop:" + "9" * 5000,)) == ("shop", "9" * 5000)


def test_annotation_goes_when_nothing_is_left_to_keep(app: Conversion) -> None:
    new = app.convert(spec(legacy=1), "v1beta1")
    assert list(new["metadata"]["annotations"]) == [f"{KEPT_PREFIX}v1alpha1"]
    assert "annotations" not in app.convert(new, "v1alpha1")["metadata"]


def test_lossy_field_is_lost_and_nothing_else(app: Conversion) -> None:
    old = spec(debug=True, size=1)
    assert app.convert(app.convert(old, "v1beta1"), "v1alpha1") == spec(size=1)


def test_annotation_that_a_client_wrote_by_hand_does_no_harm(app: Conversion) -> None:
    for text in ("{", "[]", '{"keep spec.legacy v1alpha1": 3}', '{"empty": 7}'):
        new = app.convert(spec(size=1), "v1beta1")
        new["metadata"]["annotations"] = {f"{KEPT_PREFIX}v1alpha1": text}
        assert app.convert(new, "v1alpha1") == spec(size=1)


def test_map_with_nothing_in_it_comes_back(app: Conversion) -> None:
    new = app.convert(spec(), "v1beta1")
    new["spec"]["image"] = {}
    assert app.convert(app.convert(new, "v1alpha1"), "v1beta1") == new


def test_unknown_version_is_named(app: Conversion) -> None:
    with pytest.raises(ConversionError, match=r"`v2` of `App`.*`v1alpha1`, `v1beta1`, `v1`"):
        app.convert(OLD, "v2")


def test_more_than_annotations_hold_is_refused(app: Conversion) -> None:
    with pytest.raises(ConversionError, match="larger than annotations may be"):
        app.convert(spec(legacy="x" * 300_000), "v1beta1")


WRONG = {
    "a rule without a name": ("- to: spec.a", "exactly one of"),
    "two rules in one": ("- {rename: spec.a, wrap: spec.b, to: spec.c}", "`rename` and `wrap`"),
    "an unknown key": ("- {rename: spec.a, too: spec.b, to: spec.c}", "unknown key `too`"),
    "no target": ("- rename: spec.a", "`to` is missing"),
    "metadata": ("- {rename: metadata.name, to: spec.a}", "cannot be converted"),
    "all of spec": ("- {rename: spec, to: spec.a}", "name a field in it"),
    "not a path": ("- {rename: 'spec.a[0]', to: spec.a}", "not the path of a field"),
    "a part without field": (
        "- {split: spec.a, as: '{x}/{y}', into: {x: spec.x}}",
        "part `y` of `as` has no field",
    ),
    "a field without part": (
        "- {split: spec.a, as: '{x}', into: {x: spec.x, z: spec.z}}",
        "`z` is not a part",
    ),
    "a broken pattern": (
        "- {split: spec.a, as: '{x}', into: {x: spec.x}, parts: {x: '('}}",
        "not a regular expression",
    ),
    "a pattern with groups": (
        "- {split: spec.a, as: '{x}', into: {x: spec.x}, parts: {x: '(a)'}}",
        "has groups",
    ),
    "values without a way back": (
        "- {values: spec.a, map: {x: z, y: z}}",
        "two values become `z`",
    ),
    "a version that is neither": ("- {keep: spec.a, of: v9}", "neither `v1` nor `v2`"),
    "a field twice": (
        "- {rename: spec.a, to: spec.b}\n    - {rename: spec.a.c, to: spec.d}",
        "is in the rule on line 7, too",
    ),
}


@pytest.mark.parametrize(("rules", "words"), WRONG.values(), ids=WRONG)
def test_wrong_rule_is_reported_with_its_line(tmp_path: Path, rules: str, words: str) -> None:
    file = tmp_path / "conversions.yaml"
    file.write_text(
        "- group: example.com\n  kind: App\n  steps:\n  - older: v1\n    newer: v2\n"
        f"    rules:\n    {rules}\n"
    )
    with pytest.raises(ProblemsError) as caught:
        load_conversions(file)
    assert words in str(caught.value)
    assert f"{file}:" in str(caught.value)


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "conversions.yaml"
    file.write_text(
        "- kind: App\n  steps:\n  - {older: v1, newer: v2}\n  - {older: v3, newer: v1}\n- 3\n"
    )
    with pytest.raises(ProblemsError) as caught:
        load_conversions(file)
    said = str(caught.value)
    assert "`group` is missing" in said
    assert "the step to `v2` is followed by one from `v3`" in said
    assert "version `v1` comes twice" in said
    assert "an entry must be a map" in said
