"""A project whose runs may be skipped, and the world around it; for tests of `skipUnchanged`."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.kinds import CONFIG_MAP

MEMCACHED = Gvk("cache.example.com", "v1alpha1", "Memcached")
SECRET = Gvk("", "v1", "Secret")
EXPLICIT = {"ANSIBLE_GATHERING": "explicit"}

_NAME = "{{ ansible_operator_meta.name }}"
_PLACE = {"namespace": "{{ ansible_operator_meta.namespace }}"}
_TASKS = [
    {
        "kubernetes.core.k8s_info": {"kind": "Secret", "name": f"{_NAME}-source", **_PLACE},
        "register": "source",
    },
    {
        "kubernetes.core.k8s_info": {
            "kind": "ConfigMap",
            "label_selectors": [f"for={_NAME}"],
            **_PLACE,
        },
        "register": "listed",
    },
    {
        "kubernetes.core.k8s": {
            "definition": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{_NAME}-out", **_PLACE},
                "data": {
                    "text": "{{ lookup('template', 'text.j2') }}",
                    "size": "{{ size | default(0) | string }}",
                    "label": "{{ _cache_example_com_memcached.metadata.labels.tier"
                    " | default('none') }}",
                    "source": "{{ (source.resources | first).data.key | default('')"
                    " if source.resources else 'missing' }}",
                    "listed": "{{ listed.resources | map(attribute='metadata.name') | sort"
                    " | join(',') }}",
                },
            }
        }
    },
]


def write_project(folder: Path, *more_tasks: Json, **entry: object) -> Path:
    """A project with one role; `entry` are keys of its watch."""
    role = folder / "roles" / "shows"
    (role / "tasks").mkdir(parents=True)
    (role / "templates").mkdir()
    (role / "tasks" / "main.yml").write_text(yaml.safe_dump([*_TASKS, *more_tasks]))
    write_template(folder, "first")
    watch = {
        "group": MEMCACHED.group,
        "version": MEMCACHED.version,
        "kind": MEMCACHED.kind,
        "role": "shows",
        "reconcilePeriod": "1s",
        "skipUnchanged": True,
        **entry,
    }
    (folder / "watches.yaml").write_text(yaml.safe_dump([watch]))
    return folder


def write_template(folder: Path, text: str) -> None:
    """What the role writes; a file of the project."""
    (folder / "roles" / "shows" / "templates" / "text.j2").write_text(text)


async def shown(api: Client, namespace: str, name: str = "x") -> Json:
    """What the role made of its inputs; empty where there is nothing."""
    try:
        found: Json = await api.get(CONFIG_MAP, namespace, f"{name}-out")
    except NotFoundError:
        return {}
    data: Json = found.get("data") or {}
    return data


def secret(namespace: str, value: str, name: str = "x") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{name}-source", "namespace": namespace},
        "data": {"key": base64.b64encode(value.encode()).decode()},
    }


def listed(namespace: str, item: str, name: str = "x") -> Json:
    """A ConfigMap that the role finds by its label."""
    metadata = {"name": f"{name}-{item}", "namespace": namespace, "labels": {"for": name}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
