#!/usr/bin/python
"""A module that dies before it says anything."""

from ansible.module_utils.basic import AnsibleModule

raise RuntimeError("out of paper")
AnsibleModule(argument_spec={})
