"""A file-based catalog: the package, its channels with their upgrade edges, and each bundle."""

from __future__ import annotations

import yaml

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall_dev.bundle.faults import Files
from rolecall_dev.bundle.version import precedence

_BUNDLE = "operators.operatorframework.io.bundle"


def with_bundle(catalog: str, files: Files, image: str) -> str:
    """The catalog with a bundle in it, at its place in each of its channels.

    A version that is in the catalog with another image is refused: it was published, and whoever
    installed it would never see the change.
    """
    documents = [it for it in yaml.safe_load_all(catalog) if isinstance(it, dict)]
    name = str(files.csv["metadata"]["name"])
    for document in documents:
        is_same = document.get("schema") == "olm.bundle" and document.get("name") == name
        if is_same and document.get("image") != image:
            raise InputError(
                f"`{name}` is published already, with image `{document.get('image')}`",
                hint="take a new version",
            )
    channels = files.annotations[f"{_BUNDLE}.channels.v1"].split(",")
    default = files.annotations.get(f"{_BUNDLE}.channel.default.v1") or channels[0]
    package = {"schema": "olm.package", "name": files.package, "defaultChannel": default}
    others = [it for it in documents if it.get("schema") == "olm.channel"]
    entries = {str(it["name"]): list(it.get("entries") or []) for it in others}
    for channel in channels:
        rows = [row for row in entries.get(channel, []) if row["name"] != name]
        rows.append(_entry(files, name, rows))
        entries[channel] = sorted(rows, key=lambda row: precedence(row["name"].split(".v", 1)[1]))
    bundles = {str(it["name"]): it for it in documents if it.get("schema") == "olm.bundle"}
    bundles[name] = _bundle(files, name, image)
    ordered = sorted(bundles, key=lambda it: precedence(it.split(".v", 1)[1]))
    rows = [
        package,
        *({"schema": "olm.channel", "package": files.package, "name": key, "entries": value}
          for key, value in sorted(entries.items())),
        *(bundles[key] for key in ordered),
    ]  # fmt: skip
    return "".join(f"---\n{yaml.safe_dump(row, sort_keys=False)}" for row in rows)


def _entry(files: Files, name: str, others: list[Json]) -> Json:
    replaces = files.spec.get("replaces")
    row: Json = {"name": name}
    if replaces and any(it["name"] == replaces for it in others):
        row["replaces"] = replaces
    elif replaces:
        raise InputError(
            f"`{name}` replaces `{replaces}`, which is not in the channel",
            hint="publish that one first, or leave `replaces` away",
        )
    elif others:
        raise InputError(
            f"`{name}` replaces nothing, so nobody who has another version would get it",
            hint=f"`make bundle REPLACES={others[-1]['name'].split('.v', 1)[1]}`",
        )
    if files.spec.get("skips"):
        row["skips"] = list(files.spec["skips"])
    return row


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
    metadata = {key: files.spec[key] for key in ("displayName", "installModes", "minKubeVersion")}
    return {
        "schema": "olm.bundle",
        "name": name,
        "package": files.package,
        "image": image,
        "properties": [
            {"type": "olm.package", "value": version},
            *({"type": "olm.gvk", "value": gvk} for gvk in gvks),
            {"type": "olm.csv.metadata", "value": metadata},
        ],
        "relatedImages": [{"name": "", "image": image}, *files.spec.get("relatedImages", [])],
    }
