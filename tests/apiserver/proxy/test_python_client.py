"""Python's client, which is what Ansible's modules use, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import Run, RunningProxy, reference_to

PROGRAM = """
import json, sys, tempfile
from kubernetes import client, config, dynamic
tempfile.tempdir = sys.argv[2]  # where the client keeps its discovery cache
api = dynamic.DynamicClient(config.new_client_from_config())
maps = api.resources.get(api_version="v1", kind="ConfigMap")
def manifest(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
maps.create(body=manifest("created"), namespace=sys.argv[1])
for _ in range(2):
    maps.server_side_apply(
        body=manifest("applied"), name="applied", namespace=sys.argv[1], field_manager="play"
    )
try:
    api.resources.get(api_version="example.com/v1", kind="Nothing")
except dynamic.exceptions.ResourceNotFoundError:
    pass
names = [item.metadata.name for item in maps.get(namespace=sys.argv[1]).items]
for event in maps.watch(namespace=sys.argv[1], timeout=1):
    names.append("seen " + event["object"].metadata.name)
maps.delete(name="created", namespace=sys.argv[1])
print(json.dumps(names))
"""


async def test_reads_writes_and_watches(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        namespace,
        str(run.scratch),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "KUBECONFIG": str(run.kubeconfig)},
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    names = json.loads(out)
    assert {"owner", "created", "applied", "seen created", "seen applied"} <= set(names)
    applied = running_proxy.get(namespace, "applied")["metadata"]
    assert applied["ownerReferences"] == [reference_to(cr)]
    versions = [version for uid, version in running_proxy.notes.own_writes if uid == applied["uid"]]
    assert set(versions) == {applied["resourceVersion"]}
