"""Versions of our own kinds: no object is lost, and what users have means what it meant."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
import yaml
from jinja2 import Environment

from rolecall.conversion import Conversion, load_conversions
from rolecall.json_object import Json
from rolecall_dev.checks.round_trips import round_trips, shortest
from tests.unit.roles.filters import ROLES

ROOT = Path(__file__).parents[3]
CONVERSIONS = {it.kind: it for it in load_conversions(ROOT / "conversions.yaml")}
OBJECTS = 10_000  # of each kind: eight seconds

# Of the schemas that were out before there were other versions; since then, all of status is described.
AS_BEFORE = {
    # Since then it allows less in volumes, security contexts and probes, and has more fields.
    ("Appoperator", "v1beta1"): "4ea3b6249c9747c3",
    # Since then it refuses dots that would lead out of a prefix.
    ("Mapping", "v1alpha1"): "2233f08451e5ba93",
}
IMAGES = (
    "app",
    "app:1.0",
    "registry.example.com:5000/team/app",
    "registry.example.com:5000/team/app:1.0_a-b",
    f"app@sha256:{'0a' * 32}",
    f"registry:5000/app:1.0@sha256:{'0a' * 32}",
    "app@sha256:1f",
    f"app@sha256:{'g' * 64}",
    f"app:{'t' * 129}",
    "::@@:",
    "@",
    ":",
    "a:b:c@d:e",
    "x" * 1024,
)


def image_text(image: Json) -> str:
    """What the role makes of its parts."""
    defaults = yaml.safe_load((ROLES / "appoperator/defaults/main.yml").read_text())
    template = Environment(autoescape=False).from_string(defaults["appoperator_image"])
    return template.render(_tools_rolecall_dev_appoperator_spec={"image": image})


def crds() -> dict[str, Json]:
    """By kind."""
    files = [path for path in (ROOT / "crds").glob("*.yaml") if path.stem != "kustomization"]
    loaded = [yaml.safe_load(path.read_text()) for path in files]
    return {crd["spec"]["names"]["kind"]: crd for crd in loaded}


def schemas(kind: str) -> dict[str, Json]:
    versions = crds()[kind]["spec"]["versions"]
    return {version["name"]: version["schema"]["openAPIV3Schema"] for version in versions}


def app(version: str, **spec: object) -> Json:
    api_version = f"tools.rolecall.dev/{version}"
    return {
        "apiVersion": api_version,
        "kind": "Appoperator",
        "metadata": {"name": "x"},
        "spec": spec,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "objects", [pytest.param(OBJECTS, marks=pytest.mark.nightly), OBJECTS // 5]
)
@pytest.mark.parametrize("kind", CONVERSIONS)
def test_random_objects_of_every_version_come_back_from_every_other(
    kind: str, objects: int
) -> None:
    conversion = CONVERSIONS[kind]
    each = objects // len(conversion.versions) + 1
    different = list(round_trips(conversion, schemas(kind), each, seed=2))
    assert not different, str(shortest(different))


@pytest.mark.parametrize(("kind", "version"), AS_BEFORE)
def test_version_that_users_have_means_what_it_meant(kind: str, version: str) -> None:
    text = json.dumps({"openAPIV3Schema": schemas(kind)[version]}, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == AS_BEFORE[kind, version]


@pytest.mark.nightly
@pytest.mark.parametrize("text", IMAGES, ids=lambda text: text[:30])
def test_every_image_is_the_same_text_in_the_pod_and_needs_nothing_kept(text: str) -> None:
    old = app("v1beta1", image=text)
    new = CONVERSIONS["Appoperator"].convert(old, "v1")
    assert image_text(new["spec"]["image"]) == text
    assert "annotations" not in new["metadata"]
    fields = schemas("Appoperator")["v1"]["properties"]["spec"]["properties"]["image"]["properties"]
    for part, value in new["spec"]["image"].items():
        assert re.search(fields[part]["pattern"], value), f"{part}: {value} would be refused"
        assert len(value) <= fields[part]["maxLength"]


def test_environment_that_is_no_text_comes_back_from_the_oldest_version() -> None:
    secret = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    new = app("v1", image={"repository": "a"}, env=[secret, {"name": "A", "value": "1"}])
    conversion: Conversion = CONVERSIONS["Appoperator"]
    old = conversion.convert(new, "v1alpha1")
    assert old["spec"] == {"image": "a", "env": {"A": "1"}}
    old["spec"]["size"] = 3
    again = conversion.convert(old, "v1")
    assert again["spec"] == {**new["spec"], "replicas": 3}


def test_page_of_versions_says_what_the_crds_serve() -> None:
    page = (ROOT / "docs/reference/versions.md").read_text()
    reported = {}
    for row in re.findall(r"^\| ([A-Z]\w+) \|(.*)\|$", page, re.MULTILINE):
        cells = zip(("v1alpha1", "v1beta1", "v1"), row[1].split("|"), strict=True)
        reported[row[0]] = {name: cell.strip() for name, cell in cells if cell.strip()}
    assert reported == {kind: served(crd) for kind, crd in crds().items()}
    for kind in CONVERSIONS:
        (line,) = re.findall(r"^\| 0\.1 \|.*$", page, re.MULTILINE)
        assert all(f"`{name}`" in line for name in served(crds()[kind]))


def served(crd: Json) -> dict[str, str]:
    """Version to what the page calls it."""
    versions = [version for version in crd["spec"]["versions"] if version["served"]]
    words = {
        version["name"]: "stored"
        if version["storage"]
        else "deprecated"
        if version.get("deprecated")
        else "served"
        for version in versions
    }
    for version in versions:
        assert bool(version.get("deprecated")) == ("deprecationWarning" in version)
    return words
