#!/usr/bin/python
"""Runs a program in a pod and gives it a line of input.

`kubernetes.core.k8s_exec` gives none, and a password must not be in the command: that is in the address
of the request, which the API server's audit log keeps, and in the list of processes.
"""

from __future__ import annotations

import copy
import shlex

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.core import AnsibleK8SModule
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException

try:
    from kubernetes.client import CoreV1Api
    from kubernetes.client.exceptions import ApiException
    from kubernetes.stream import stream
except ImportError:
    pass  # the module of kubernetes.core says what is missing

DOCUMENTATION = r"""
module: pod_exec
short_description: Run a program in a pod, with a line of input
description:
  - As M(kubernetes.core.k8s_exec), and the program reads O(line) from its standard input.
options:
  namespace:
    description: Namespace of the pod.
    type: str
    required: true
  pod:
    description: Name of the pod.
    type: str
    required: true
  container:
    description: Name of the container.
    type: str
    required: true
  command:
    description: The program and its arguments.
    type: str
    required: true
  line:
    description: What it reads. It is never shown.
    type: str
    required: true
  seconds:
    description: How long it may take.
    type: int
    default: 30
author: The rolecall maintainers
"""

EXAMPLES = r"""
- name: Give root a password
  rolecall.operator.pod_exec:
    namespace: default
    pod: db-0
    container: etcd
    command: etcdctl user passwd root --interactive=false
    line: "{{ password }}"
  no_log: true
"""

RETURN = r"""
rc:
  description: Exit code of the program.
  returned: always
  type: int
stdout:
  description: What it printed.
  returned: always
  type: str
stderr:
  description: What it printed about errors.
  returned: always
  type: str
"""


def main():
    """Run it."""
    arguments = copy.deepcopy(AUTH_ARG_SPEC)
    for name in ("namespace", "pod", "container", "command"):
        arguments[name] = {"type": "str", "required": True}
    arguments["line"] = {"type": "str", "required": True, "no_log": True}
    arguments["seconds"] = {"type": "int", "default": 30}
    module = AnsibleK8SModule(
        module_class=AnsibleModule, check_pyyaml=False, argument_spec=arguments
    )
    try:
        api = CoreV1Api(get_api_client(module).client.client)
        module.exit_json(changed=True, **_run(api, module.params))
    except CoreException as error:
        module.fail_from_exception(error)
    except (ApiException, OSError) as error:
        module.fail_json(msg=f"could not run a program in pod `{module.params['pod']}`: {error}")


def _run(api, wanted):
    call = stream(
        api.connect_get_namespaced_pod_exec,
        wanted["pod"],
        wanted["namespace"],
        container=wanted["container"],
        command=shlex.split(wanted["command"]),
        stdin=True,
        stdout=True,
        stderr=True,
        tty=False,
        _preload_content=False,
    )
    call.write_stdin(wanted["line"] + "\n")
    call.run_forever(timeout=wanted["seconds"])
    if call.is_open():
        call.close()
        return {"rc": 1, "stdout": "", "stderr": f"no answer within {wanted['seconds']} s"}
    printed = {"stdout": call.read_stdout(timeout=0), "stderr": call.read_stderr(timeout=0)}
    return {"rc": call.returncode, **printed}


if __name__ == "__main__":
    main()
