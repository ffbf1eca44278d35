"""Proves that each kind says the same everywhere.

Why: a field lives in a CRD, in the role's defaults and argument specs, in a sample, in RBAC and in
the docs. One forgotten place is a bug that only a user meets.

What: for each CRD in `crds/`, at the version that is stored: the watch, the role's defaults (each reads
a field that exists, each with its meaning above it), its argument specs (one for each default and none
more), the sample (valid against the schema), RBAC (kind, status), a description of every field of spec
and status (`kubectl explain` shows it), and the page in `docs/kinds/` (it names every field, or
`kubectl explain`). And against the newest release tag, that the CRD breaks no existing CR: no
version, field or enum value gone, no new required field, no narrower bound, no other pattern or rule.

How: `make check-crds`, or `python tools/check_crds.py [--against REVISION]`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import yaml

from rolecall.json_object import Json

ROOT = Path(__file__).resolve().parents[1]

# A bound may widen: `minimum` may fall, `maximum` may rise.
_MAY_FALL = ("minimum", "minLength", "minItems", "minProperties")
_MAY_RISE = ("maximum", "maxLength", "maxItems", "maxProperties")


def main() -> int:
    """Print every disagreement; 1 where there is one."""
    parser = argparse.ArgumentParser(description="Prove that each kind says the same everywhere.")
    parser.add_argument("--against", help="revision to compare the CRDs with; default: newest tag")
    problems = list(disagreements(ROOT)) + list(breaks(ROOT, parser.parse_args().against))
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(_crds(ROOT))} kinds agree with their roles, samples, RBAC and docs")
    return 1 if problems else 0


def disagreements(root: Path) -> Iterator[str]:
    """Everything that does not fit together in this checkout."""
    watches = yaml.safe_load((root / "watches.yaml").read_text())
    rules = yaml.safe_load((root / "config/rbac/role.yaml").read_text())["rules"]
    for file, crd in _crds(root).items():
        kind = crd["spec"]["names"]["kind"]
        watch = next((entry for entry in watches if entry["kind"] == kind), None)
        if watch is None:
            yield f"crds/{file}: nothing in watches.yaml watches {kind}"
            continue
        if watch["version"] != _stored(crd)["name"]:
            yield f"watches.yaml: {kind} is watched at {watch['version']}, and not as it is stored"
        yield from _role_problems(root, _role_of(root, watch), crd)
        yield from _sample_problems(root, crd)
        yield from _rbac_problems(rules, crd)
        yield from _doc_problems(root, crd)


def _role_of(root: Path, watch: Json) -> str:
    """The role that a kind runs, or the one that its playbook imports."""
    if "role" in watch:
        return str(watch["role"])
    plays = yaml.safe_load((root / watch["playbook"]).read_text())
    imported = {
        task["ansible.builtin.import_role"]["name"]
        for play in plays
        for task in play.get("tasks", [])
        if "ansible.builtin.import_role" in task
    }
    (role,) = imported
    return str(role)


def _crds(root: Path) -> dict[str, Json]:
    files = sorted(path for path in (root / "crds").glob("*.yaml") if path.stem != "kustomization")
    return {path.name: yaml.safe_load(path.read_text()) for path in files}


def _schema(crd: Json, part: str) -> Json:
    schema: Json = _stored(crd)["schema"]["openAPIV3Schema"]["properties"][part]
    return schema


def _stored(crd: Json) -> Json:
    """The version that role, sample and docs are about."""
    (stored,) = (version for version in crd["spec"]["versions"] if version["storage"])
    return dict(stored)


def _role_problems(root: Path, role: str, crd: Json) -> Iterator[str]:
    file = f"roles/{role}/defaults/main.yml"
    text = (root / file).read_text()
    defaults = yaml.safe_load(text)
    fields = set(_schema(crd, "spec")["properties"])
    read = set(re.findall(r"_spec\.(\w+)", text))
    for field in sorted(fields - read):
        yield f"{file}: no default reads spec.{field} of {crd['spec']['names']['kind']}"
    for field in sorted(read - fields):
        yield f"{file}: spec.{field} is read but is not in the CRD"
    specs = yaml.safe_load((root / f"roles/{role}/meta/argument_specs.yml").read_text())
    options = set(specs["argument_specs"]["main"]["options"])
    for name in sorted(set(defaults) ^ options):
        missing = "argument_specs.yml" if name in defaults else "defaults/main.yml"
        yield f"roles/{role}: `{name}` is missing in {missing}"
    readme = (root / f"roles/{role}/README.md").read_text()
    lines = text.splitlines()
    for name in defaults:
        place = next(i for i, line in enumerate(lines) if line.startswith(f"{name}:"))
        if not lines[place - 1].startswith("# "):
            yield f"{file}:{place + 1}: `{name}` has no line above it that says what it means"
        if f"`{name}`" not in readme:
            yield f"roles/{role}/README.md: does not name `{name}`"


def _sample_problems(root: Path, crd: Json) -> Iterator[str]:
    kind = crd["spec"]["names"]["kind"].lower()
    file = root / f"config/samples/{kind}.yaml"
    if not file.exists():
        yield f"config/samples/{kind}.yaml: is missing"
        return
    sample = yaml.safe_load(file.read_text())
    version = f"{crd['spec']['group']}/{_stored(crd)['name']}"
    if sample["apiVersion"] != version:
        yield f"config/samples/{kind}.yaml: is {sample['apiVersion']}, the CRD is {version}"
    validator = jsonschema.Draft7Validator(_closed(_schema(crd, "spec")))
    for error in validator.iter_errors(sample["spec"]):
        yield f"config/samples/{kind}.yaml: spec: {error.message}"


def _closed(schema: Json) -> Json:
    """The schema with unknown fields refused, as a strict API server refuses them."""
    closed = dict(schema)
    if "properties" in closed:
        closed["properties"] = {k: _closed(v) for k, v in closed["properties"].items()}
        if not closed.get("x-kubernetes-preserve-unknown-fields"):
            closed["additionalProperties"] = False
    if "items" in closed:
        closed["items"] = _closed(closed["items"])
    return closed


def _rbac_problems(rules: list[Json], crd: Json) -> Iterator[str]:
    group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
    wanted = {
        plural: {"get", "list", "watch", "patch"},
        f"{plural}/status": {"get", "patch"},
    }
    for resource, verbs in wanted.items():
        granted = {
            verb
            for rule in rules
            if group in rule["apiGroups"] and resource in rule["resources"]
            for verb in rule["verbs"]
        }
        for verb in sorted(verbs - granted):
            yield f"config/rbac/role.yaml: `{verb}` on {resource}.{group} is not granted"


def _doc_problems(root: Path, crd: Json) -> Iterator[str]:
    kind = crd["spec"]["names"]["kind"]
    pages = [p for p in (root / "docs/kinds").glob("*.md") if f"# {kind}" in p.read_text()]
    pages += [p for p in (root / "docs/kinds").glob("*.md") if f"and {kind}" in p.read_text()]
    if not pages:
        yield f"docs/kinds: no page is about {kind}"
        return
    page, text = pages[0].name, pages[0].read_text()
    for part in ("spec", "status"):
        fields = _schema(crd, part)["properties"]
        for field in sorted(name for name, schema in fields.items() if "description" not in schema):
            yield f"crds: {part}.{field} of {kind} has no description, which `kubectl explain` shows"
        if f"`kubectl explain {kind.lower()}.{part}`" in text:
            continue
        fields = set(fields) - {"conditions", "observedGeneration"}
        for field in sorted(field for field in fields if f"`{field}`" not in text):
            yield f"docs/kinds/{page}: does not name {part}.{field} of {kind}"


def breaks(root: Path, against: str | None) -> Iterator[str]:
    """What of the CRDs would break users of an earlier revision."""
    revision = against or _git(root, "describe", "--tags", "--abbrev=0")
    if not revision:
        return  # nothing was released yet, so no user has an older CRD
    for file, crd in _crds(root).items():
        text = _git(root, "show", f"{revision}:crds/{file}")
        if text:
            for problem in incompatible(yaml.safe_load(text), crd):
                yield f"crds/{file}: {problem} (compared with {revision})"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else ""


def incompatible(old: Json, new: Json) -> Iterator[str]:
    """What the new CRD takes away from users of the old one."""
    versions = {version["name"]: version for version in new["spec"]["versions"]}
    for version in old["spec"]["versions"]:
        now = versions.get(version["name"])
        if now is None or (version["served"] and not now["served"]):
            yield f"version {version['name']} is not served any more"
            continue
        before = version["schema"]["openAPIV3Schema"]
        yield from _narrowed(version["name"], before, now["schema"]["openAPIV3Schema"])


def _narrowed(place: str, old: Json, new: Json) -> Iterator[str]:
    if old.get("type") != new.get("type"):
        yield f"{place}: was {old.get('type')}, is {new.get('type')}"
        return
    for field in sorted(set(new.get("required", [])) - set(old.get("required", []))):
        yield f"{place}: `{field}` is required now"
    values: set[str] = set(old.get("enum") or ())
    for value in sorted(values - set(new.get("enum") or values)):
        yield f"{place}: value `{value}` is gone"
    yield from _tighter_bounds(place, old, new)
    yield from _stricter_words(place, old, new)
    for field, before in old.get("properties", {}).items():
        now = new.get("properties", {}).get(field)
        if now is None:
            yield f"{place}: field `{field}` is gone"
        else:
            yield from _narrowed(f"{place}.{field}", before, now)
    if "items" in old and "items" in new:
        yield from _narrowed(f"{place}[]", old["items"], new["items"])


def _tighter_bounds(place: str, old: Json, new: Json) -> Iterator[str]:
    for bound in (*_MAY_FALL, *_MAY_RISE):
        if bound not in new:
            continue
        before, now = old.get(bound), new[bound]
        is_tighter = before is None or (now > before if bound in _MAY_FALL else now < before)
        if is_tighter:
            yield f"{place}: {bound} was {before}, is {now}"


def _stricter_words(place: str, old: Json, new: Json) -> Iterator[str]:
    """Patterns and rules: whether a new one accepts all that the old one did cannot be computed."""
    if new.get("pattern") not in (None, old.get("pattern")):
        yield f"{place}: pattern was {old.get('pattern')}, is {new['pattern']}"
    known = {row["rule"] for row in old.get("x-kubernetes-validations", [])}
    for row in new.get("x-kubernetes-validations", []):
        if row["rule"] not in known:
            yield f"{place}: rule `{row['rule']}` is new"


if __name__ == "__main__":
    sys.exit(main())
