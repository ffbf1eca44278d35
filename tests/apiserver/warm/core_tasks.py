"""Tasks that use every module of kubernetes.core, as people write them, and the files they need."""

from __future__ import annotations

from typing import Any

from tests.play.warm.runs import Tasks

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: tiny\nversion: 1.2.3\n",
    "values.yaml": "word: first\n",
    "templates/map.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        "data:\n  word: {{ .Values.word }}\n"
    ),
}
PLUGIN = {
    "plugin.yaml": (
        'name: tiny\nversion: "0.1.0"\nusage: tiny\ndescription: tiny\ncommand: $HELM_PLUGIN_DIR/tiny\n'
    ),
    "tiny": "#!/bin/sh\n",
}
BASE = {"base/kustomization.yaml": "namePrefix: k-\nresources: [map.yaml]\n"}
BASE["base/map.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n"
HERE = "{{ ansible_operator_meta.namespace }}"


def that(*conditions: str) -> dict[str, Any]:
    return {"ansible.builtin.assert": {"that": list(conditions)}}


def config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": HERE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def pods(name: str, **more: Any) -> dict[str, Any]:
    """A pod template; the simulated node needs no image."""
    containers = [{"name": "main", "image": "none"}]
    spec = {"containers": containers, "terminationGracePeriodSeconds": 0, **more}
    return {"metadata": {"labels": {"app": name}}, "spec": spec}


def deployment(name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": HERE},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": pods(name, **more),
        },
    }


def helm(module: str, **arguments: Any) -> dict[str, Any]:
    return {f"kubernetes.core.{module}": {"release_namespace": HERE, "name": "web", **arguments}}


def answered(name: str, unnoticed: str = "", /, **task: Any) -> Tasks:
    """A task that needs a container, and what the API server says of a node without a kubelet.

    `unnoticed`: what a module says that may not notice it.
    """
    text = f"{name} | to_json"
    has_failed = f"{name} is failed or {name} is unreachable"
    words = "dial tcp|upgrade|Broken pipe"
    return [
        {**task, "register": name, "ignore_errors": True, "ignore_unreachable": True},
        {
            "ansible.builtin.assert": {
                "that": [
                    f"{has_failed} or {text} is search('{unnoticed}')" if unnoticed else has_failed,
                    f"'credential' not in {text} and 'Unauthorized' not in {text}",
                    f"'malformed ws' not in {text}",
                    f"{text} is search('{words}{unnoticed and '|'}{unnoticed}')",
                ],
                "fail_msg": f"another answer: {{{{ {text} }}}}",
            }
        },
    ]


HELM: Tasks = [
    {**helm("helm", chart_ref="{{ work }}/tiny", values={"word": "one"}), "register": "made"},
    that("made is changed", "made.status.status == 'deployed'"),
    helm("helm", chart_ref="{{ work }}/tiny", values={"word": "two"}),
    {**helm("helm", chart_ref="{{ work }}/tiny", values={"word": "two"}), "register": "same"},
    that("same is not changed"),
    {**helm("helm_info"), "register": "info"},
    that("info.status.revision | int == 2", "info.status['values'].word == 'two'"),
    {**helm("helm", release_state="absent"), "register": "gone"},
    that("gone is changed"),
]
HELM_BESIDES: Tasks = [
    {
        "kubernetes.core.helm_template": {"chart_ref": "{{ work }}/tiny", "release_name": "web"},
        "register": "text",
    },
    that("'word: first' in text.stdout"),
    {"kubernetes.core.helm_repository": {"name": "ours", "repo_url": "{{ repository }}"}},
    {
        "kubernetes.core.helm_pull": {
            "chart_ref": "tiny",
            "repo_url": "{{ repository }}",
            "chart_version": "1.2.3",
            "destination": "{{ work }}",
        },
        "register": "pulled",
    },
    that("pulled is changed"),
    helm("helm", name="theirs", chart_ref="ours/tiny", wait=True),
    {"kubernetes.core.helm_plugin": {"plugin_path": "{{ work }}/plugin", "state": "present"}},
    {"kubernetes.core.helm_plugin_info": {"plugin_name": "tiny"}, "register": "plugins"},
    that("plugins.plugin_list | length == 1"),
    {"kubernetes.core.helm_plugin": {"plugin_name": "tiny", "state": "absent"}},
]
K8S: Tasks = [
    {"kubernetes.core.k8s": {"definition": config_map("a", word="x")}},
    {"kubernetes.core.k8s": {"definition": config_map("b", word="x"), "apply": True}},
    {
        "kubernetes.core.k8s_info": {"kind": "ConfigMap", "namespace": HERE, "name": "a"},
        "register": "a",
    },
    that("a.resources[0].metadata.ownerReferences | length == 1"),
    {
        "kubernetes.core.k8s_json_patch": {
            **{"kind": "ConfigMap", "namespace": HERE, "name": "a"},
            "patch": [{"op": "replace", "path": "/data/word", "value": "y"}],
        }
    },
    that(
        "lookup('kubernetes.core.k8s', kind='ConfigMap', namespace=ansible_operator_meta.namespace,"
        " resource_name='a').data.word == 'y'",
        "lookup('kubernetes.core.kustomize', dir=work + '/base') is search('k-map')",
    ),
    {"kubernetes.core.k8s_cluster_info": {}, "register": "cluster"},
    that("cluster.version.server.kubernetes.major == '1'"),
    {
        "kubernetes.core.k8s_service": {
            **{"name": "web", "namespace": HERE, "selector": {"app": "web"}},
            "ports": [{"port": 80, "protocol": "TCP"}],
        }
    },
    {"ansible.builtin.command": "kubectl get configmap a --namespace " + HERE, "register": "seen"},
    {"ansible.builtin.command": "kubectl get --raw /readyz"},
    {
        "kubernetes.core.k8s": {
            **{"kind": "ConfigMap", "namespace": HERE, "name": "b"},
            "state": "absent",
        }
    },
]
WORKLOADS: Tasks = [
    {"kubernetes.core.k8s": {"definition": deployment("web"), "wait": True}},
    {
        "kubernetes.core.k8s_scale": {
            **{"kind": "Deployment", "namespace": HERE, "name": "web", "replicas": 2},
            "wait_timeout": 60,
        }
    },
    {"kubernetes.core.k8s": {"definition": deployment("web", hostname="second"), "wait": True}},
    {
        "kubernetes.core.k8s_rollback": {
            **{"api_version": "apps/v1", "kind": "Deployment"},
            **{"namespace": HERE, "name": "web"},
        },
        "register": "back",
    },
    that("back is changed"),
    {
        "kubernetes.core.k8s_taint": {
            "name": "{{ node }}",
            "taints": [{"effect": "NoSchedule", "key": "test/own"}],
        },
        "register": "tainted",
    },
    that("tainted is changed"),
    {
        "kubernetes.core.k8s_drain": {"name": "{{ node }}", "state": "cordon"},
        "register": "cordoned",
    },
    that("cordoned is changed"),
    {
        "kubernetes.core.k8s_drain": {
            **{"name": "{{ node }}", "state": "drain"},
            "delete_options": {"force": True, "ignore_daemonsets": True, "wait_timeout": 60},
        }
    },
]
POD = {"namespace": HERE, "pod": "one"}
CONTAINERS: Tasks = [
    {
        "kubernetes.core.k8s": {
            "definition": {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "one", "namespace": HERE},
                "spec": pods("one")["spec"],
            },
            "wait": True,
        }
    },
    *answered("ran", **{"kubernetes.core.k8s_exec": {**POD, "command": "true"}}),
    # The module ends when the stream does, and reads no error but what a program wrote to stderr.
    *answered(
        "copied",
        "successfully copied",
        **{"kubernetes.core.k8s_cp": {**POD, "remote_path": "/tmp/x", "content": "x"}},
    ),
    *answered("logs", **{"kubernetes.core.k8s_log": {"namespace": HERE, "name": "one"}}),
    *answered("by_kubectl", **{"ansible.builtin.command": f"kubectl exec -n {HERE} one -- true"}),
    *answered(
        "connected",
        **{"ansible.builtin.raw": "true"},
        delegate_to="one",
        vars={
            "ansible_connection": "kubernetes.core.kubectl",
            "ansible_kubectl_pod": "one",
            "ansible_kubectl_namespace": HERE,
        },
    ),
]
