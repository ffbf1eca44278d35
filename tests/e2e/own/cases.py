"""What is done to each of this repository's kinds, and how the world must look then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json

ROOT = Path(__file__).parents[3]

CLAIM = Gvk("", "v1", "PersistentVolumeClaim")
SERVICE = Gvk("", "v1", "Service")
POD = Gvk("", "v1", "Pod")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")
BUDGET = Gvk("policy", "v1", "PodDisruptionBudget")


@dataclass(frozen=True)
class Case:
    """One kind: its sample, an edit, a dependent and damage to it, and a spec that is wrong."""

    sample: str
    edit: Json  # merged into the spec
    is_edited: Callable[[Json, Json], bool]  # the dependent and the CR, after the edit
    dependent: Gvk
    dependent_name: str
    damage: Callable[[Json], Json]  # of the dependent: what is merged into it
    is_whole: Callable[[Json], bool]  # the dependent, once the damage is mended
    wrong: Json  # a spec that the API server must refuse
    refusal: str
    reason: str = ""  # the `Ready` reason that counts as done, where `True` cannot be reached

    @property
    def cr(self) -> Json:
        """The sample."""
        loaded: Json = yaml.safe_load((ROOT / f"config/samples/{self.sample}.yaml").read_text())
        return loaded

    @property
    def gvk(self) -> Gvk:
        """Its kind."""
        return Gvk.parse(self.cr["apiVersion"], self.cr["kind"])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.cr["metadata"]["name"])


def _labels(obj: Json) -> Json:
    labels: Json = obj["metadata"].get("labels", {})
    return labels


def _annotations(obj: Json) -> Json:
    annotations: Json = obj["metadata"].get("annotations", {})
    return annotations


def _image(obj: Json) -> str:
    return str(obj["spec"].get("template", obj)["spec"]["containers"][0]["image"])


_PREFIX = "routing.rolecall.dev/prefix"
_STALE = "routing.rolecall.dev/stale"

CASES = (
    Case(
        sample="demovolume",
        edit={"name": "renamed"},
        is_edited=lambda _claim, cr: cr["status"]["name"] == "renamed",
        dependent=CLAIM,
        dependent_name="demovolume-sample",
        damage=lambda _: {"metadata": {"labels": {"demo.rolecall.dev/owner": None}}},
        is_whole=lambda claim: "demo.rolecall.dev/owner" in _labels(claim),
        wrong={"size": 0},
        refusal="should be greater than or equal to 1",
    ),
    Case(
        sample="appoperator",
        edit={"replicas": 5},
        is_edited=lambda deployment, cr: (
            deployment["spec"]["replicas"] == 5 and cr["status"]["progress"] == "5/5"
        ),
        dependent=DEPLOYMENT,
        dependent_name="appoperator-sample",
        damage=lambda _: {"spec": {"replicas": 1}},
        is_whole=lambda deployment: deployment["spec"]["replicas"] == 5,
        wrong={"replicas": -1},
        refusal="should be greater than or equal to 0",
    ),
    Case(
        sample="mapping",
        edit={"match": {"prefix": "/other/"}},
        is_edited=lambda service, _cr: _annotations(service)[_PREFIX] == "/other/",
        dependent=SERVICE,
        dependent_name="mapping-sample",
        damage=lambda _: {"metadata": {"annotations": {_PREFIX: "/wrong/", _STALE: "x"}}},
        is_whole=lambda service: (
            _annotations(service)[_PREFIX] == "/other/" and _STALE not in _annotations(service)
        ),
        wrong={"weights": [{"target": {"host": host}, "weight": 60} for host in ("a", "b")]},
        refusal="weights must not add up to more than 100 per cent",
    ),
    Case(
        sample="podset",
        edit={"replicas": 2},
        is_edited=lambda _pod, cr: (
            cr["status"]["podNames"] == ["podset-sample-0", "podset-sample-1"]
        ),
        dependent=POD,
        dependent_name="podset-sample-0",
        damage=lambda _: {"metadata": {"labels": {"apps.rolecall.dev/podset": None}}},
        is_whole=lambda pod: "apps.rolecall.dev/podset" in _labels(pod),
        wrong={"template": {"spec": {"containers": []}}},
        refusal="should have at least 1 items",
    ),
    Case(
        sample="machine",
        edit={"size": "large"},
        is_edited=lambda pod, cr: (
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "2"
            and cr["status"]["phase"] == "Running"
        ),
        dependent=POD,
        dependent_name="machine-sample",
        damage=lambda pod: {
            "spec": {"containers": [{**pod["spec"]["containers"][0], "image": "example.com/bad:1"}]}
        },
        is_whole=lambda pod: _image(pod) == "registry.example.com/machine:1.0",
        wrong={"size": "huge"},
        refusal="Unsupported value",
    ),
    Case(
        sample="etcdcluster",
        edit={"backupSchedule": "0 4 * * *"},
        is_edited=lambda _budget, cr: cr["status"]["observedGeneration"] == 2,
        dependent=BUDGET,
        dependent_name="etcd-sample",
        damage=lambda _: {"spec": {"maxUnavailable": 3}},
        is_whole=lambda budget: budget["spec"]["maxUnavailable"] == 1,
        wrong={"replicas": 2},
        refusal="replicas must be odd",
        reason="Starting",  # nothing runs as etcd on simulated nodes
    ),
)
