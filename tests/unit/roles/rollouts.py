"""An Appoperator over several runs, as its role's filters decide them."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter

plan_of = role_filter("appoperator", "appoperator_plan")
verdict_of = role_filter("appoperator", "appoperator_verdict")

Json = dict[str, Any]


def pod(image: str = "app:1", **fields: Any) -> Json:
    return {"containers": [{"name": "app-container", "image": image}], **fields}


class Story:
    """An Appoperator over several runs: each begins with what the last one wrote."""

    def __init__(self, image: str = "app:1", **wishes: Any) -> None:
        self.wishes: Json = {"deadline": 60, "minReady": 10, "kept": 3, "rollbackTo": 0}
        self.wishes |= {"pod": pod(image), **wishes}
        self.status: Json = {}
        self.deployment: Json = {}
        self.contents: Json = {}
        self.pods: list[Json] = []
        self.second = 0
        self.said: Json = {}

    def run(self, *, after: int = 0, why: str = "") -> str:
        """The reason that this run comes to."""
        self.second += after
        facts = {
            "status": self.status,
            "deployment": self.deployment,
            "pods": self.pods,
            "contents": self.contents,
            "moment": self.moment(),
        }
        plan = plan_of(self.wishes, facts)
        if self._template() != plan["template"]:
            self._roll(plan)
        facts["deployment"] = self.deployment
        self.said = verdict_of(plan, self.wishes, facts, why)
        written = {**self.status.get("rollout", {}), **self.said["status"]["rollout"]}
        self.status = {
            **self.said["status"],
            "rollout": {k: v for k, v in written.items() if v is not None},
        }
        return str(self.said["reason"])

    def complete(self) -> None:
        """All pods of the present template become available."""
        replicas = self.deployment["spec"]["replicas"]
        counts = dict.fromkeys(
            ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), replicas
        )
        generation = self.deployment["metadata"]["generation"]
        self.deployment["status"] = {**counts, "observedGeneration": generation}

    def scale(self, replicas: int) -> None:
        """As an autoscaler does, and nobody is told."""
        self.deployment["spec"]["replicas"] = replicas
        self.deployment["metadata"]["generation"] += 1

    def ready_pod(self, *, for_seconds: int) -> Json:
        """One of the present template."""
        since = self.moment(self.second - for_seconds)
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": since}
        annotations = {"tools.rolecall.dev/template": self._template()}
        metadata = {"name": "app-1", "annotations": annotations}
        return {"metadata": metadata, "status": {"conditions": [ready]}}

    def image(self) -> str:
        """Of the pods as they are to be."""
        template = self.deployment["spec"]["template"]
        return str(template["spec"]["containers"][0]["image"])

    def moment(self, second: int | None = None) -> str:
        """As Kubernetes writes it."""
        at = 1000 + (self.second if second is None else second)
        return f"2026-01-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}Z"

    def _template(self) -> str:
        template = self.deployment.get("spec", {}).get("template", {"metadata": {}})
        return str(
            template["metadata"].get("annotations", {}).get("tools.rolecall.dev/template", "")
        )

    def _roll(self, plan: Json) -> None:
        generation = self.deployment.get("metadata", {}).get("generation", 0) + 1
        annotations = {"tools.rolecall.dev/template": plan["template"]}
        template = {"metadata": {"annotations": annotations}, "spec": plan["pod"]}
        replicas = self.deployment.get("spec", {}).get("replicas", 3)
        self.deployment = {
            "metadata": {"generation": generation},
            "spec": {"replicas": replicas, "template": template},
            "status": self.deployment.get("status", {}),
        }
