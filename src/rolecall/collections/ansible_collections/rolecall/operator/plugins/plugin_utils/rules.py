"""Rule tables: lists in a role's variables, of which the first rule whose condition holds is taken.

A rule is a map. Its `when` is a condition as a task has it, and always holds where it is missing. All its
other keys are what follows; only those of rules that are taken are templated, so that a message may speak
of what other rules have not got.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import Evaluator

Rule = dict[str, Any]

# What Ansible itself keeps in the result of a task.
RESERVED = frozenset(
    """
    ansible_facts attempts changed deprecations diff exception failed failed_when_result finished invocation msg
    rc results retries rule skip_reason skipped started unreachable warnings
    """.split()  # noqa: SIM905 - a list of words
)


class RuleTable:
    """One table, with the variables that its rules see."""

    def __init__(self, name: str, templar: Any, variables: Mapping[str, Any], facts: Any) -> None:
        if not isinstance(name, str) or not isinstance(facts, Mapping):
            raise AnsibleActionFail("`rules` is the name of a variable, and `facts` a map")
        self._name = name
        self._rules = _checked(name, variables.get(name))
        self._evaluator = Evaluator(templar, variables, facts)

    def first(self) -> Rule:
        """The first rule that holds; `rule` is its place in the table."""
        for number, rule in self._that_hold():
            return self._made(number, rule)
        raise AnsibleActionFail(
            f"no rule of `{self._name}` holds; end it with a rule that has no `when`"
        )

    def all(self) -> list[Rule]:
        """All that hold, in their order."""
        return [self._made(number, rule) for number, rule in self._that_hold()]

    def _that_hold(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, rule in enumerate(self._rules, 1):
            if all(self._holds(number, each) for each in _conditions(rule.get("when", True))):
                yield number, rule

    def _holds(self, number: int, condition: Any) -> bool:
        try:
            return self._evaluator.is_true(condition)
        except Exception as error:
            raise AnsibleActionFail(self._about(number, "when", error)) from error

    def _made(self, number: int, rule: Mapping[str, Any]) -> Rule:
        made = {
            str(key): self._value(number, key, text) for key, text in rule.items() if key != "when"
        }
        return {**made, "rule": number}

    def _value(self, number: int, key: str, text: Any) -> Any:
        try:
            return self._evaluator.value(text)
        except Exception as error:
            raise AnsibleActionFail(self._about(number, key, error)) from error

    def _about(self, number: int, key: str, error: Exception) -> str:
        return f"rule {number} of `{self._name}`: `{key}`: {error}"


def _conditions(when: Any) -> list[Any]:
    return list(when) if isinstance(when, (list, tuple)) else [when]


def _checked(name: str, rules: Any) -> list[Mapping[str, Any]]:
    if not isinstance(rules, (list, tuple)) or not rules:
        raise AnsibleActionFail(
            f"`rules` must name a list of rules in the role's variables, and `{name}` is none"
        )
    for number, rule in enumerate(rules, 1):
        if not isinstance(rule, Mapping):
            raise AnsibleActionFail(f"rule {number} of `{name}` must be a map")
        if reserved := sorted(RESERVED.intersection(map(str, rule))):
            raise AnsibleActionFail(
                f"rule {number} of `{name}`: Ansible keeps `{reserved[0]}` for itself; use another key"
            )
    return list(rules)
