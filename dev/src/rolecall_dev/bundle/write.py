"""A bundle's files, as texts: the same input gives the same bytes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.webhooks import Webhook
from rolecall_dev.bundle.manifests import Manifests, name_of
from rolecall_dev.bundle.version import checked_version, precedence
from rolecall_dev.bundle.webhooks import is_converted, leave_to_olm, webhook_definitions
from rolecall_dev.sources import as_yaml

# The ClusterServiceVersion: what OLM installs, and what its console shows.
# All of it follows from the rendered manifests and the CRDs' schemas; words for people come from a
# base in `config/manifests/bases`, where there is one. No time and nothing random is in it, so making
# it again gives the same bytes.

_UI = "urn:alm:descriptor:com.tectonic.ui:"
_BY_TYPE = {"boolean": f"{_UI}booleanSwitch", "integer": f"{_UI}number", "number": f"{_UI}number"}
_BY_NAME = {
    "conditions": "urn:alm:descriptor:io.kubernetes.conditions",
    "phase": "urn:alm:descriptor:io.kubernetes.phase",
    "replicas": f"{_UI}podCount",
    "resources": f"{_UI}resourceRequirements",
}
_MIN_KUBE_VERSION = "1.25.0"  # the oldest with all that CRDs here may use, such as validation rules
# True for every operator on this engine: it takes a list of namespaces, or none for all.
_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PLATFORM_KEYS = {"kubernetes.io/arch": "arch", "kubernetes.io/os": "os"}
_WATCHED = "WATCH_NAMESPACE"
_OWN_NAMESPACE: Json = {
    "name": _WATCHED,
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}},
}
_WATCH_NAMESPACE: Json = {
    "name": _WATCHED,
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['olm.targetNamespaces']"}},
}


@dataclass(frozen=True, slots=True)
class FromRoles:
    """What the project's watches say, and its manifests do not."""

    made: Mapping[str, Sequence[Json]] = field(default_factory=dict)  # by kind: what its role makes
    webhooks: Sequence[Webhook] = ()


def make_csv(manifests: Manifests, labels: Mapping[str, str], from_roles: FromRoles) -> Json:
    """The CSV."""
    csv = copy.deepcopy(manifests.base) if manifests.base else {"metadata": {}, "spec": {}}
    csv |= {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
    metadata, spec = csv["metadata"], csv["spec"]
    metadata["name"] = f"{labels['package']}.v{labels['version']}"
    metadata.setdefault("namespace", "placeholder")
    if platforms := _platforms(manifests.deployments):
        metadata["labels"] = {**metadata.get("labels", {}), **platforms}
    annotations = metadata.setdefault("annotations", {})
    annotations.setdefault("capabilities", "Basic Install")
    annotations["alm-examples"] = json.dumps(
        sorted(manifests.samples, key=lambda it: (it["kind"], name_of(it))), indent=2
    )
    annotations["operators.operatorframework.io/builder"] = labels["builder"]
    annotations["operators.operatorframework.io/project_layout"] = labels["layout"]
    spec.setdefault("displayName", _words(labels["package"]))
    spec.setdefault("minKubeVersion", _MIN_KUBE_VERSION)
    spec["version"] = labels["version"]
    if labels.get("replaces"):
        spec["replaces"] = f"{labels['package']}.v{labels['replaces']}"
    else:
        spec.pop("replaces", None)
    known = _also_named(spec.get("customresourcedefinitions") or {}, from_roles.made)
    spec["customresourcedefinitions"] = {"owned": _owned(manifests.crds, known)}
    spec["install"] = {"strategy": "deployment", "spec": _install(manifests)}
    definitions = webhook_definitions(manifests, from_roles.webhooks)
    if definitions:
        spec["webhookdefinitions"] = definitions
    else:
        spec.pop("webhookdefinitions", None)
    # OLM installs what converts for the whole cluster alone: a CRD has one webhook for all namespaces.
    modes = _MODES[-1:] if any(map(is_converted, manifests.crds)) else _MODES
    spec["installModes"] = [{"type": mode, "supported": mode in modes} for mode in _MODES]
    spec["relatedImages"] = _related_images(spec["install"]["spec"]["deployments"])
    return csv


def _also_named(
    definitions: Json, made: Mapping[str, Sequence[Json]]
) -> Mapping[str, Sequence[Json]]:
    """With what the base names: kinds that a role takes from a list cannot be read from its tasks."""
    known = {kind: list(rows) for kind, rows in made.items()}
    for row in definitions.get("owned") or ():
        rows = known.setdefault(str(row.get("kind")), [])
        named = [{"name": "", **each} for each in row.get("resources") or ()]
        rows += [each for each in named if each not in rows]
    return known


def _owned(crds: Sequence[Json], made: Mapping[str, Sequence[Json]]) -> list[Json]:
    rows = []
    for crd in sorted(crds, key=name_of):
        names = crd["spec"]["names"]
        for version in crd["spec"]["versions"]:
            if not version.get("served"):
                continue
            schema = version.get("schema", {}).get("openAPIV3Schema", {})
            parts = schema.get("properties") or {}
            rows.append(
                {
                    "name": name_of(crd),
                    "kind": names["kind"],
                    "version": version["name"],
                    "displayName": _words(names["kind"]),
                    "description": schema.get("description") or f"One {names['kind']}",
                    "resources": list(made.get(names["kind"], ())),
                    "specDescriptors": _descriptors(parts.get("spec")),
                    "statusDescriptors": _descriptors(parts.get("status")),
                }
            )
    return rows


def _descriptors(schema: Any) -> list[Json]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return [_descriptor(name, field) for name, field in sorted((properties or {}).items())]


def _descriptor(name: str, field: Json) -> Json:
    row: Json = {"path": name, "displayName": _words(name)}
    if field.get("description"):
        row["description"] = field["description"]
    kind = _BY_NAME.get(name) or _BY_TYPE.get(field.get("type", ""))
    if kind is None and field.get("type") == "string":
        kind = f"{_UI}text"
    return {**row, "x-descriptors": [kind]} if kind else row


def _install(manifests: Manifests) -> Json:
    deployments, wide, narrow = [], [], []
    for deployment in manifests.deployments:
        spec = copy.deepcopy(deployment["spec"])
        pod = spec["template"]["spec"]
        account = pod.get("serviceAccountName")
        if not account:
            raise InputError(f"Deployment `{name_of(deployment)}` names no service account")
        _let_olm_choose_namespaces(pod["containers"])
        row: Json = {"name": name_of(deployment), "spec": spec}
        if labels := deployment["metadata"].get("labels"):
            row["label"] = labels
        deployments.append(row)
        wide.append((account, manifests.bound_rules(account, "ClusterRole")))
        narrow.append((account, manifests.bound_rules(account, "Role")))
    return {
        "deployments": deployments,
        "clusterPermissions": [_permissions(*row) for row in wide if row[1]],
        "permissions": [_permissions(*row) for row in narrow if row[1]],
    }


def _platforms(deployments: Sequence[Json]) -> dict[str, str]:
    """Labels for where the Deployments may run; without any, OLM takes amd64 for all there is."""
    found: dict[str, str] = {}
    for row in _required_of_nodes(deployments):
        topic = _PLATFORM_KEYS.get(row.get("key", ""))
        if topic and row.get("operator") == "In":
            found |= {
                f"operatorframework.io/{topic}.{value}": "supported" for value in row["values"]
            }
    return dict(sorted(found.items()))


def _required_of_nodes(deployments: Sequence[Json]) -> Iterator[Json]:
    for deployment in deployments:
        affinity = deployment["spec"]["template"]["spec"].get("affinity") or {}
        required = (affinity.get("nodeAffinity") or {}).get(_REQUIRED) or {}
        for term in required.get("nodeSelectorTerms") or []:
            yield from term.get("matchExpressions") or []


def _permissions(account: str, rules: list[Json]) -> Json:
    return {"serviceAccountName": account, "rules": rules}


def _let_olm_choose_namespaces(containers: list[Json]) -> None:
    """Unless the Deployment names them itself; its own namespace is what OLM may choose as well."""
    for container in containers:
        env = [row for row in container.get("env") or [] if row != _OWN_NAMESPACE]
        if not any(row.get("name") == _WATCHED for row in env):
            env.append(copy.deepcopy(_WATCH_NAMESPACE))
        container["env"] = env


def _related_images(deployments: Sequence[Json]) -> list[Json]:
    images: dict[str, str] = {}
    for deployment in deployments:
        pod = deployment["spec"]["template"]["spec"]
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            images.setdefault(container["image"], container["name"])
            for row in container.get("env", []):
                if row["name"].startswith("RELATED_IMAGE_") and row.get("value"):
                    name = row["name"].removeprefix("RELATED_IMAGE_").lower().replace("_", "-")
                    images.setdefault(row["value"], name)
    return [{"name": name, "image": image} for image, name in sorted(images.items())]


def _words(name: str) -> str:
    """`storageSize`, `memcached-operator`: as a title."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.replace("-", " ").replace("_", " "))
    return spaced[:1].upper() + spaced[1:]


_BUNDLE = "operators.operatorframework.io.bundle"
_METRICS = "operators.operatorframework.io.metrics"
_TEST = "operators.operatorframework.io.test"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a bundle is called and where it belongs."""

    package: str
    version: str
    builder: str
    layout: str
    channels: tuple[str, ...] = ("alpha",)
    default_channel: str = ""
    replaces: str = ""

    def __post_init__(self) -> None:
        checked_version(self.version)
        if self.replaces:
            checked_version(self.replaces)
            if precedence(self.replaces) >= precedence(self.version):
                raise InputError(
                    f"version {self.version} cannot replace {self.replaces}, which is not older"
                )
        if self.default_channel and self.default_channel not in self.channels:
            raise InputError(
                f"default channel `{self.default_channel}` is not one of {', '.join(self.channels)}"
            )

    @property
    def annotations(self) -> dict[str, str]:
        """What marks the files, and the image, as this bundle."""
        return {
            f"{_BUNDLE}.mediatype.v1": "registry+v1",
            f"{_BUNDLE}.manifests.v1": "manifests/",
            f"{_BUNDLE}.metadata.v1": "metadata/",
            f"{_BUNDLE}.package.v1": self.package,
            f"{_BUNDLE}.channels.v1": ",".join(self.channels),
            f"{_BUNDLE}.channel.default.v1": self.default_channel or self.channels[0],
            f"{_METRICS}.builder": self.builder,
            f"{_METRICS}.mediatype.v1": "metrics+v1",
            f"{_METRICS}.project_layout": self.layout,
            f"{_TEST}.mediatype.v1": "scorecard+v1",
            f"{_TEST}.config.v1": "tests/scorecard/",
        }


@dataclass(slots=True)
class Bundle:
    """Paths below the project's folder, and their contents."""

    files: dict[str, str] = field(default_factory=dict)


def make_bundle(
    manifests: Manifests,
    identity: Identity,
    image: str,
    from_roles: FromRoles,
) -> Bundle:
    """All files of a bundle whose operator runs from `image`."""
    _set_image(manifests, image)
    leave_to_olm(manifests)
    labels = {
        "package": identity.package,
        "version": identity.version,
        "builder": identity.builder,
        "layout": identity.layout,
        "replaces": identity.replaces,
    }
    bundle = Bundle()
    folder = "bundle/manifests"
    csv = make_csv(manifests, labels, from_roles)
    bundle.files[f"{folder}/{identity.package}.clusterserviceversion.yaml"] = as_yaml(csv)
    for crd in manifests.crds:
        names = crd["spec"]["names"]
        bundle.files[f"{folder}/{crd['spec']['group']}_{names['plural']}.yaml"] = as_yaml(crd)
    for document in (*manifests.others, *manifests.unbound_roles):
        document["metadata"].pop("namespace", None)
        kind = document["kind"].lower()
        bundle.files[f"{folder}/{name_of(document)}_{kind}.yaml"] = as_yaml(document)
    annotations = {"annotations": identity.annotations}
    bundle.files["bundle/metadata/annotations.yaml"] = as_yaml(annotations)
    if manifests.scorecard is not None:
        bundle.files["bundle/tests/scorecard/config.yaml"] = as_yaml(manifests.scorecard)
    bundle.files["bundle.Dockerfile"] = _dockerfile(
        identity, has_tests=manifests.scorecard is not None
    )
    return bundle


def _set_image(manifests: Manifests, image: str) -> None:
    """Into the place that the scaffold leaves for it."""
    if not image:
        raise InputError("the image of the operator is needed", hint="`--image REGISTRY/NAME:TAG`")
    for deployment in manifests.deployments:
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            if container["image"].partition(":")[0] == "controller":
                container["image"] = image


def _dockerfile(identity: Identity, *, has_tests: bool) -> str:
    labels = [f"LABEL {key}={value}" for key, value in identity.annotations.items()]
    copies = ["COPY bundle/manifests /manifests/", "COPY bundle/metadata /metadata/"]
    if has_tests:
        copies.append("COPY bundle/tests/scorecard /tests/scorecard/")
    return "\n".join(["FROM scratch", "", *labels, "", *copies]) + "\n"
