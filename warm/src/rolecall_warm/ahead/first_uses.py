"""Uses what Ansible makes at first use, so that it is made before a fork.

Regular expressions, Jinja environments and YAML constructors are built at first use; without this every
run child would build them again. No more than that: Ansible keeps options and extra variables of the
first play that a process sees, so a play, or only a variable manager, in the host would be all runs'.
"""

from __future__ import annotations

import contextlib
import re

from rolecall_warm.hooks.core import Core
from rolecall_warm.hooks.keywords import get_to_know

_PLAY = """
- hosts: localhost
  gather_facts: false
  vars: {a: 1}
  tasks:
    - name: say {{ a }}
      ansible.builtin.debug: {msg: "{{ a | default('x') }}"}
      when: a == 1
      loop: [1]
      register: said
    - block:
        - set_fact: {b: "{{ said.results | map(attribute='msg') | list }}"}
      rescue: []
"""
_EXPRESSIONS = (
    "{{ ansible_playbook_python }}",
    "{{ ansible_operator_meta.name }}",
    "{{ ansible_operator_meta.namespace }}",
    "{{ a }}",
    "{{ a | int + 1 }}",
    "{% if a == 1 %}x{% endif %}",
    "{{ l | list }}",
)
_CONDITION = "a == 1 and l is defined"
_VARIABLES = {
    "a": 1,
    "l": [1],
    "ansible_playbook_python": "python",
    "ansible_operator_meta": {"name": "a", "namespace": "b"},
}
_CONTENT_TYPES = (
    ("application", "json"),
    ("application", "yaml"),
    ("text", "yaml"),
    ("text", "x-yaml"),
)
# Python keeps 512 compiled patterns; ansible-core and its libraries have more.
_MOST_PATTERNS = 4096


def use_first(core: Core) -> None:
    if hasattr(re, "_MAXCACHE"):
        re._MAXCACHE = _MOST_PATTERNS
    with contextlib.suppress(Exception):  # costs speed, not a run
        _yaml()
    with contextlib.suppress(Exception):
        core.render(_EXPRESSIONS, _CONDITION, _VARIABLES)
    with contextlib.suppress(Exception):
        get_to_know()
    with contextlib.suppress(Exception):
        _answers()


def _answers() -> None:
    """The Kubernetes client compiles patterns for what it gets."""
    from kubernetes.client.rest import contenttype_matches  # noqa: PLC0415

    for main, sub in _CONTENT_TYPES:
        contenttype_matches("", main, sub)


def _yaml() -> None:
    from ansible.parsing.dataloader import DataLoader  # noqa: PLC0415

    DataLoader().load(_PLAY)
    DataLoader().load('{"a": 1}')
