"""A bundle's files, as texts: the same input gives the same bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

from rolecall.errors import InputError
from rolecall_dev.bundle.csv import FromRoles, make_csv
from rolecall_dev.bundle.manifests import Manifests, name_of
from rolecall_dev.bundle.version import checked_version, precedence
from rolecall_dev.bundle.webhooks import leave_to_olm
from rolecall_dev.sources import as_yaml

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
