"""A file-based catalog: the package, its channels with their upgrade edges, and each bundle.

The words and the icon that people see come from the newest bundle; where a person wrote others into the
catalog, those stay, as does everything else that this module does not know, such as `olm.deprecations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from rolecall.errors import InputError, Problem, ProblemsError
from rolecall.json_object import Json, as_map
from rolecall_dev.bundle.faults import SCHEMAS, Files, base64_faults
from rolecall_dev.bundle.version import is_in_range, is_version, precedence
from rolecall_dev.sources import as_yaml, misfits

# A file-based catalog on disk: its documents, or all of their errors.
# Users edit this file, too: they add an icon to the package, or deprecate a channel. So each error has
# its line and its field, and unknown fields are kept.

_ANY: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@dataclass(slots=True)
class Catalog:
    """The documents, by what they are; `others` are kept as they are."""

    file: str
    package: Json = field(default_factory=dict)
    channels: dict[str, Json] = field(default_factory=dict)
    bundles: dict[str, Json] = field(default_factory=dict)
    others: list[Json] = field(default_factory=list)


def read_catalog(text: str, package: str, file: str) -> Catalog:
    """The catalog of a package; `ProblemsError` with all faults of the file."""
    found = Catalog(file)
    problems: list[Problem] = []
    for line, document in _documents(text, file):
        faults = list(_faults(document, package))
        problems += [Problem(file, line, what) for what in faults]
        if not faults:
            _sort_in(document, found)
    if problems:
        raise ProblemsError(problems)
    return found


def _documents(text: str, file: str) -> Iterator[tuple[int, Json]]:
    loader = yaml.SafeLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            document = None if node is None else loader.construct_document(node)
            if node is not None and document is not None:
                yield node.start_mark.line + 1, document
    except yaml.YAMLError as error:
        raise InputError(f"{file} is not valid YAML: {error}") from error
    finally:
        loader.dispose()


def _faults(document: Json, package: str) -> Iterator[str]:
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        yield "has no `schema`, such as `olm.channel`, so OLM would not read this catalog"
        return
    schema = document["schema"]
    known = SCHEMAS["catalog"].get(schema, _ANY)
    yield from (str(misfit) for misfit in misfits(document, known, (schema,)))
    owner = document.get("name" if schema == "olm.package" else "package")
    if isinstance(owner, str) and owner != package:
        yield f"{schema} is of package `{owner}`, but this is the catalog of `{package}`"
    if schema == "olm.package":
        icon = as_map(document.get("icon")).get("base64data")
        if isinstance(icon, str):
            yield from base64_faults(icon, "olm.package.icon.base64data")
    names = [document.get("name")] if schema == "olm.bundle" else []
    if schema == "olm.channel" and isinstance(document.get("entries"), list):
        names = [row.get("name") for row in document["entries"] if isinstance(row, dict)]
    for name in names:
        if isinstance(name, str) and not is_version(version_in(name)):
            yield f"{schema}: name `{name}` does not end with `.v` and a semantic version"


def _sort_in(document: Json, found: Catalog) -> None:
    schema = document["schema"]
    if schema == "olm.package":
        found.package = document
    elif schema == "olm.channel":
        found.channels[document["name"]] = document
    elif schema == "olm.bundle":
        found.bundles[document["name"]] = document
    else:
        found.others.append(document)


def version_in(name: str) -> str:
    """`rolecall.v1.2.3`: the version."""
    return name.partition(".v")[2]


CATALOG_DOCKERFILE = Path(__file__).with_name("catalog.Dockerfile")
_BUNDLE = "operators.operatorframework.io.bundle"
SKIP_RANGE = "olm.skipRange"
# What a catalog says of a bundle without pulling its image: name there -> name in the CSV's spec.
_SHOWN = {
    "apiServiceDefinitions": "apiservicedefinitions",
    "crdDescriptions": "customresourcedefinitions",
    "description": "description",
    "displayName": "displayName",
    "installModes": "installModes",
    "keywords": "keywords",
    "links": "links",
    "maintainers": "maintainers",
    "maturity": "maturity",
    "minKubeVersion": "minKubeVersion",
    "nativeAPIs": "nativeAPIs",
    "provider": "provider",
}


def with_bundle(text: str, file: str, files: Files, image: str) -> str:
    """The catalog of a file with a bundle in it, at its place in each of its channels.

    We reject a version that is in the catalog with another image: it was published, and clusters that
    have installed it would never get the change.
    """
    catalog = read_catalog(text, files.package, file)
    name = str(files.csv["metadata"]["name"])
    published = catalog.bundles.get(name, {}).get("image", image)
    if published != image:
        raise InputError(
            f"{file}: olm.bundle `{name}` is published already, with image `{published}`",
            hint="take a new version",
        )
    channels = files.annotations[f"{_BUNDLE}.channels.v1"].split(",")
    default = files.annotations.get(f"{_BUNDLE}.channel.default.v1") or channels[0]
    for channel in channels:
        document = catalog.channels.setdefault(
            channel, {"schema": "olm.channel", "package": files.package, "name": channel}
        )
        others = [row for row in document.get("entries") or [] if row["name"] != name]
        rows = [*others, _entry(files, others, f"{file}: channel `{channel}`")]
        document["entries"] = sorted(rows, key=lambda row: precedence(version_in(row["name"])))
    catalog.package = _package(catalog, files, default)
    catalog.bundles[name] = _bundle(files, name, image)
    return "".join(f"---\n{as_yaml(row, sort_keys=False)}" for row in _ordered(catalog))


def _ordered(catalog: Catalog) -> list[Json]:
    bundles = sorted(catalog.bundles, key=lambda name: precedence(version_in(name)))
    return [
        catalog.package,
        *(catalog.channels[name] for name in sorted(catalog.channels)),
        *catalog.others,
        *(catalog.bundles[name] for name in bundles),
    ]


def _package(catalog: Catalog, files: Files, default: str) -> Json:
    there = catalog.package
    package = {"schema": "olm.package", "name": files.package, "defaultChannel": default}
    icons = files.spec.get("icon") or []
    if icon := there.get("icon") or (icons[0] if icons else None):
        package["icon"] = icon
    words = there.get("description")
    if not words or words in _descriptions(catalog):
        words = files.spec.get("description")
    if words:
        package["description"] = words
    return {**package, **{key: value for key, value in there.items() if key not in package}}


def _descriptions(catalog: Catalog) -> set[str]:
    """Those of the bundles: a package that has one of them was not described by a person."""
    properties = [
        it for bundle in catalog.bundles.values() for it in bundle.get("properties") or []
    ]
    rows = [it["value"] for it in properties if it.get("type") == "olm.csv.metadata"]
    return {row["description"] for row in rows if row.get("description")}


def _entry(files: Files, others: Sequence[Json], place: str) -> Json:
    """The row of a bundle in a channel: every version before it must lead to it.

    OLM wants one newest entry, and every other one behind it. It looks at `replaces` and `skips` for
    that, and not at `skipRange`; so what a range takes in is named in `skips`, too.
    """
    row: Json = {"name": str(files.csv["metadata"]["name"])}
    skips = list(files.spec.get("skips") or [])
    if replaces := files.spec.get("replaces"):
        if all(it["name"] != replaces for it in others):
            raise InputError(
                f"{place}: spec.replaces of {files.csv_file} names `{replaces}`, which is not in the"
                " channel",
                hint="publish that one first, or leave `replaces` away",
            )
        row["replaces"] = replaces
    if stranded := _stranded([*others, {**row, "skips": skips}], str(row["name"])):
        skips += _taken_in(files, stranded, place)
    if skips:
        row["skips"] = skips
    if text := _skip_range(files):
        row["skipRange"] = text
    return row


def _stranded(rows: Sequence[Json], name: str) -> list[str]:
    """Entries from which nothing leads to the newest: this one, or the one that follows it."""
    followed = {it for row in rows for it in (row.get("replaces"), *(row.get("skips") or []))}
    heads = [str(row["name"]) for row in rows if row["name"] not in followed]
    by_name = {str(row["name"]): row for row in rows}
    step: str | None = name if name in heads or not heads else heads[0]
    chain: list[str] = []
    while step in by_name and step not in chain:
        chain.append(step)
        step = by_name[step].get("replaces")
    skipped = {it for each in chain for it in by_name[each].get("skips") or []}
    return [it for it in by_name if it not in skipped.union(chain)]


def _skip_range(files: Files) -> str:
    return str((files.csv["metadata"].get("annotations") or {}).get(SKIP_RANGE) or "")


def _taken_in(files: Files, stranded: Sequence[str], place: str) -> list[str]:
    """These, where the bundle's range holds them; else they would never get to it."""
    name = str(files.csv["metadata"]["name"])
    newest = max(stranded, key=lambda it: precedence(version_in(it)))
    text = _skip_range(files)
    outside = [it for it in stranded if not text or not is_in_range(version_in(it), text)]
    if not outside:
        return list(stranded)
    ways = (
        f"`make bundle REPLACES={version_in(newest)}`, or write `spec.skips` or the annotation"
        f" `{SKIP_RANGE}` into the CSV in config/manifests/bases"
    )
    if text:
        what = f"{SKIP_RANGE} `{text}` of {files.csv_file} does not take in {_shown(outside)}"
    elif files.spec.get("replaces") or files.spec.get("skips"):
        what = f"`{name}` does not follow {_shown(outside)}, so who has that would get no update"
    else:
        what = (
            f"`{name}` does not replace a version, so installations of other versions would"
            " not be upgraded to it"
        )
    raise InputError(f"{place}: {what}", hint=ways)


def _shown(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _bundle(files: Files, name: str, image: str) -> Json:
    version = {"packageName": files.package, "version": files.spec["version"]}
    gvks = [
        {
            "group": crd["spec"]["group"],
            "kind": crd["spec"]["names"]["kind"],
            "version": served["name"],
        }
        for _, crd in sorted(files.crds.items())
        for served in crd["spec"]["versions"]
        if served.get("served")
    ]
    return {
        "schema": "olm.bundle",
        "name": name,
        "package": files.package,
        "image": image,
        "properties": [
            {"type": "olm.package", "value": version},
            *({"type": "olm.gvk", "value": gvk} for gvk in gvks),
            {"type": "olm.csv.metadata", "value": _metadata(files)},
        ],
        "relatedImages": [{"name": "", "image": image}, *files.spec.get("relatedImages", [])],
    }


def _metadata(files: Files) -> Json:
    """What a PackageManifest shows: without it, the console's page of the operator is empty."""
    own = files.csv["metadata"]
    found: Json = {key: dict(own[key]) for key in ("annotations", "labels") if own.get(key)}
    for key, name in _SHOWN.items():
        if files.spec.get(name):
            found[key] = files.spec[name]
    return found
