"""Options of a rule table, documented once for all modules that take one."""

from __future__ import annotations


class ModuleDocFragment:
    """Shared by `decide`, `refuse` and `report`."""

    DOCUMENTATION = r"""
options:
  rules:
    description:
      - Name of a variable that holds a rule table, a list of maps in a role's C(vars/). C(when) of a rule
        is a condition as a task has it; a rule without one always holds.
    type: str
  facts:
    description:
      - Further variables for the rules. They are evaluated once, so put in here what is expensive.
    type: dict
    default: {}
"""
