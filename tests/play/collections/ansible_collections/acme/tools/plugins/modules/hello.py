#!/usr/bin/python
"""Says hello."""

from ansible.module_utils.basic import AnsibleModule

AnsibleModule({}).exit_json(changed=False, word="hello from the collection")
