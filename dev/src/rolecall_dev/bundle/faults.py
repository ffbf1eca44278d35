"""Checks a bundle's files as OLM and its tools do, and a little more: all faults at once."""

from __future__ import annotations

import base64
import binascii
import json
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.errors import InputError, Problem
from rolecall.json_object import Json
from rolecall_dev.bundle.version import is_in_range, is_version, precedence
from rolecall_dev.bundle.webhooks import definition_faults
from rolecall_dev.sources import as_map, misfits, resources_of_no_namespace, with_object_fields

_BUNDLE = "operators.operatorframework.io.bundle"
_IMAGE = re.compile(
    r"(?:[a-zA-Z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?P<tag>:[\w][\w.-]{0,127})?(?P<digest>@sha256:[0-9a-f]{64})?"
)
_MODES = {"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"}
_ANNOTATIONS_FILE = "bundle/metadata/annotations.yaml"
SCHEMAS: Json = yaml.safe_load(Path(__file__).with_name("schemas.yaml").read_text())


@dataclass(slots=True)
class Files:
    csv_file: str
    csv: Json
    crds: dict[str, Json]  # by name
    annotations: dict[str, str]
    labels: dict[str, str]  # of bundle.Dockerfile
    others: list[Json]

    @property
    def spec(self) -> Json:
        return as_map(self.csv.get("spec"))

    @property
    def package(self) -> str:
        return str(self.annotations.get(f"{_BUNDLE}.package.v1", ""))


def read_bundle(root: Path) -> Files:
    """The bundle of a project; `InputError` where it is not one at all."""
    folder = root / "bundle" / "manifests"
    if not folder.is_dir():
        raise InputError("bundle/manifests is not there", hint="`make bundle` writes it")
    documents = {path: _document(path, root) for path in sorted(folder.glob("*.y*ml"))}
    csvs = [path for path, it in documents.items() if it.get("kind") == "ClusterServiceVersion"]
    if len(csvs) != 1:
        raise InputError(f"bundle/manifests holds {len(csvs)} ClusterServiceVersions, not one")
    crds = [it for it in documents.values() if it.get("kind") == "CustomResourceDefinition"]
    dockerfile = root / "bundle.Dockerfile"
    text = dockerfile.read_text() if dockerfile.is_file() else ""
    return Files(
        csv_file=str(csvs[0].relative_to(root)),
        csv=documents[csvs[0]],
        crds={str(as_map(crd.get("metadata")).get("name")): crd for crd in crds},
        annotations=as_map(_document(root / _ANNOTATIONS_FILE, root).get("annotations")),
        labels=dict(re.findall(r"^LABEL ([^=\s]+)=(\S*)$", text, re.MULTILINE)),
        others=[it for it in documents.values() if it not in crds],
    )


def validate(files: Files) -> list[Problem]:
    """All faults; warnings are marked so."""
    found: list[Problem] = []
    for check in (_names, _annotations, _owned, _examples, _install, _images, _looks, _webhooks):
        for what in check(files):
            is_warning = what.startswith("warning: ")
            file = _ANNOTATIONS_FILE if check is _annotations else files.csv_file
            found.append(Problem(file, None, what.removeprefix("warning: "), is_warning=is_warning))
    return found


def _names(files: Files) -> Iterator[str]:
    version, name = files.spec.get("version"), str(as_map(files.csv.get("metadata")).get("name"))
    if not is_version(version):
        yield f"version `{version}` is not a semantic version"
        return
    if name != f"{files.package}.v{version}":
        yield f"name `{name}` is not `{files.package}.v{version}`, which package and version make"
    before = files.spec.get("replaces")
    if before is not None:
        package, _, old = str(before).partition(".v")
        if before == name:
            yield "replaces itself, so OLM could never install it"
        elif package != files.package or not is_version(old):
            yield f"replaces `{before}`, which is not a version of this package"
        elif precedence(old) >= precedence(str(version)):
            yield f"replaces `{before}`, which is not older"
    if name in (files.spec.get("skips") or []):
        yield "skips itself"
    yield from _skip_range_faults(files, str(version))
    oldest = files.spec.get("minKubeVersion")
    if not is_version(oldest):
        yield f"minKubeVersion `{oldest}` is not a version such as `1.25.0`"


def _skip_range_faults(files: Files, version: str) -> Iterator[str]:
    text = as_map(as_map(files.csv.get("metadata")).get("annotations")).get("olm.skipRange")
    if text is None:
        return
    try:
        if is_in_range(version, str(text)):
            yield f"olm.skipRange `{text}` takes in `{version}`, so it would skip itself"
    except ValueError:
        yield f"olm.skipRange `{text}` is not a range such as `>=1.0.0 <{version}`"


def _annotations(files: Files) -> Iterator[str]:
    for key in ("mediatype.v1", "manifests.v1", "metadata.v1", "package.v1", "channels.v1"):
        if not files.annotations.get(f"{_BUNDLE}.{key}"):
            yield f"`{_BUNDLE}.{key}` is missing"
    channels = str(files.annotations.get(f"{_BUNDLE}.channels.v1", "")).split(",")
    default = files.annotations.get(f"{_BUNDLE}.channel.default.v1")
    if default and default not in channels:
        yield f"default channel `{default}` is not one of {', '.join(channels)}"
    for key in sorted({*files.annotations, *files.labels}):
        if files.annotations.get(key) != files.labels.get(key):
            yield f"`{key}` differs from the label in bundle.Dockerfile"


def _owned(files: Files) -> Iterator[str]:
    rows = as_map(files.spec.get("customresourcedefinitions")).get("owned") or []
    owned = {(row.get("name"), row.get("version")): row for row in rows}
    served = {
        (name, version["name"]): crd
        for name, crd in files.crds.items()
        for version in crd["spec"]["versions"]
        if version.get("served")
    }
    for name, version in sorted(served.keys() - owned.keys()):
        yield f"CRD `{name}` serves `{version}`, but the CSV does not own it"
    for name, version in sorted(owned.keys() - served.keys()):
        yield f"owns `{name}` in `{version}`, which no CRD of the bundle serves"
    for key in sorted(served.keys() & owned.keys()):
        kind = served[key]["spec"]["names"]["kind"]
        if owned[key].get("kind") != kind:
            yield f"owns `{key[0]}` as kind `{owned[key].get('kind')}`, but it is `{kind}`"


def _examples(files: Files) -> Iterator[str]:
    text = as_map(as_map(files.csv.get("metadata")).get("annotations")).get("alm-examples", "[]")
    try:
        examples = json.loads(text)
    except ValueError as error:
        yield f"alm-examples is not JSON: {error}"
        return
    for name, crd in sorted(files.crds.items()):
        kind, group = crd["spec"]["names"]["kind"], crd["spec"]["group"]
        schemas = {
            f"{group}/{version['name']}": as_map(version.get("schema")).get("openAPIV3Schema") or {}
            for version in crd["spec"]["versions"]
            if version.get("served")
        }
        own = [it for it in examples if it.get("kind") == kind and it["apiVersion"] in schemas]
        if not own:
            yield f"alm-examples holds no `{kind}` of a version that CRD `{name}` serves"
        for example in own:
            schema = with_object_fields(schemas[example["apiVersion"]])
            yield from (f"alm-examples: {kind}.{misfit}" for misfit in misfits(example, schema))


def _install(files: Files) -> Iterator[str]:
    modes = {row.get("type"): row.get("supported") for row in files.spec.get("installModes") or []}
    if set(modes) != _MODES:
        yield f"installModes must name each of {', '.join(sorted(_MODES))} once"
    if not any(modes.values()):
        yield "no install mode is supported, so OLM can install it nowhere"
    install = as_map(as_map(files.spec.get("install")).get("spec"))
    yield from _accounts_without_rights(install)
    yield from rights_faults(files.crds.values(), install)


def _accounts_without_rights(install: Json) -> Iterator[str]:
    accounts = {
        row["serviceAccountName"]
        for key in ("clusterPermissions", "permissions")
        for row in install.get(key) or []
    }
    for deployment in install.get("deployments") or []:
        account = deployment["spec"]["template"]["spec"].get("serviceAccountName")
        if account not in accounts:
            yield f"Deployment `{deployment['name']}` runs as `{account}`, which has no permissions"


def _images(files: Files) -> Iterator[str]:
    deployments = as_map(as_map(files.spec.get("install")).get("spec")).get("deployments") or []
    used = {
        container["image"]
        for deployment in deployments
        for container in deployment["spec"]["template"]["spec"]["containers"]
    }
    related = {row.get("image") for row in files.spec.get("relatedImages") or []}
    for image in sorted(used - related):
        yield f"image `{image}` is not among relatedImages, so it is not mirrored"
    for image in sorted(used | {str(it) for it in related}):
        found = _IMAGE.fullmatch(image)
        if found is None:
            yield f"image `{image}` is not a reference to one"
        elif found["digest"] is None and found["tag"] in (None, ":latest"):
            yield (
                f"warning: image `{image}` has no fixed tag, so the same version may be"
                " different images"
            )


def _looks(files: Files) -> Iterator[str]:
    return look_faults(files.spec)


def _webhooks(files: Files) -> Iterator[str]:
    return definition_faults(files.spec, files.crds)


def _document(path: Path, root: Path) -> Json:
    try:
        return as_map(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path.relative_to(root)} could not be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path.relative_to(root)} is not valid YAML: {error}") from error


# What the page of a catalog shows of an operator: what it would miss, and what OLM could not read.

_SHOWN = ("displayName", "description", "icon", "maintainers", "provider", "keywords")


def look_faults(spec: Json) -> Iterator[str]:
    """Fields of the CSV's spec that are empty (a warning), or that are not what OLM takes."""
    for key in _SHOWN:
        if not spec.get(key):
            yield f"warning: `{key}` is empty; config/manifests/bases is the place for it"
    for key, schema in SCHEMAS["page"].items():
        if not spec.get(key):
            continue
        faults = [str(misfit) for misfit in misfits(spec[key], schema, ("spec", key))]
        yield from faults
        if key == "icon" and not faults:
            for number, icon in enumerate(spec[key]):
                yield from base64_faults(icon["base64data"], f"spec.icon[{number}].base64data")


def base64_faults(text: str, field: str) -> Iterator[str]:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error as error:
        yield f"{field} is not base64: {error}"


# Whether the rights of a bundle are enough in every install mode, and not in vain.
# `permissions` hold in the namespaces that the OperatorGroup names: OLM makes a Role in each, and a
# ClusterRole where it names none, which means all. So they are enough for what belongs to a
# namespace. What does not, such as storage classes, or CRs of a CRD with scope `Cluster`, has to be
# in `clusterPermissions`.
def rights_faults(crds: Collection[Json], install: Json) -> Iterator[str]:
    """Rights that the engine lacks, rules that grant nothing where they are, rules without limits."""
    wide = _rules(install, "clusterPermissions")
    narrow = _rules(install, "permissions")
    outside = resources_of_no_namespace(crds)
    for crd in crds:
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        is_namespaced = (group, plural) not in outside
        rules = [rule for _, rule in (*wide, *(narrow if is_namespaced else ()))]
        yield from _missing(rules, group, plural, is_namespaced=is_namespaced)
    for field, rule in narrow:
        yield from _in_vain(field, rule, outside)
    for field, rule in (*wide, *narrow):
        if "*" in rule.get("verbs", ()) or "*" in rule.get("resources", ()):
            yield f"warning: {field} allows everything with {rule.get('resources')}"


def _rules(install: Json, key: str) -> list[tuple[str, Json]]:
    """Each with its field."""
    return [
        (f"{key}[{row}].rules[{number}]", rule)
        for row, permissions in enumerate(install.get(key) or [])
        for number, rule in enumerate(permissions.get("rules") or [])
    ]


def _missing(rules: list[Json], group: str, plural: str, *, is_namespaced: bool) -> Iterator[str]:
    needs = {plural: ("get", "list", "watch"), f"{plural}/status": ("patch",)}
    for resource, verbs in needs.items():
        missing = [it for it in verbs if not any(_allows(r, group, resource, it) for r in rules)]
        if missing:
            where = (
                "" if is_namespaced else " in clusterPermissions, since it belongs to no namespace"
            )
            yield f"not allowed to {', '.join(missing)} `{resource}` of `{group}`{where}"


# A Role can grant these verbs for the namespace that it is in.
_OF_ITS_OWN = frozenset({"get", "patch", "update", "delete"})


def _in_vain(field: str, rule: Json, outside: Set[tuple[str, str]]) -> Iterator[str]:
    for group in rule.get("apiGroups") or ():
        names = {str(name).partition("/")[0] for name in rule.get("resources") or ()}
        if set(rule.get("verbs") or ()) <= _OF_ITS_OWN:
            names -= {"namespaces"}
        if lost := sorted(name for name in names if (group, name) in outside):
            yield (
                f"{field} is for namespaces, so it grants nothing of"
                f" {', '.join(f'`{name}`' for name in lost)}: bind a ClusterRole with it by a"
                " ClusterRoleBinding"
            )
    if rule.get("nonResourceURLs"):
        yield f"{field} has nonResourceURLs, which only a ClusterRole can grant"


def _allows(rule: Json, group: str, resource: str, verb: str) -> bool:
    wanted = (("apiGroups", group), ("resources", resource), ("verbs", verb))
    return all({value, "*"} & set(rule.get(key) or ()) for key, value in wanted)


# Versions of CRDs that the last release contained and that this bundle lacks.
# The last commit contains the former bundle. Without git or without such a commit, nothing is reported.

_FOLDER = "bundle/manifests"
_COMMAND_S = 10


def dropped_versions(root: Path, crds: Mapping[str, Json]) -> Iterator[str]:
    """By the bundle of the last commit."""
    for name, crd in sorted(crds.items()):
        file = f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml"
        there = {version["name"] for version in crd["spec"]["versions"]}
        for version in _versions_before(root, f"{_FOLDER}/{file}"):
            if version["name"] not in there:
                how = "stored" if version.get("storage") else "may have been stored"
                yield (
                    f"CRD `{name}` has no `{version['name']}` any more, at which objects were"
                    f" {how}: clusters refuse it until `rolecall migrate-storage` was run there"
                )


def _versions_before(root: Path, file: str) -> list[Json]:
    try:
        said = subprocess.run(
            ["git", "-C", str(root), "show", f"HEAD:./{file}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_COMMAND_S,
        )
        found = yaml.safe_load(said.stdout) if said.returncode == 0 else None
        versions: list[Json] = found["spec"]["versions"] if found else []
    except (OSError, subprocess.TimeoutExpired, yaml.YAMLError, LookupError, TypeError):
        return []
    return versions
