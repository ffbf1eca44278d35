"""Gives arguments of a task with the types that their templates make.

From 2.19 on, ansible-core does so itself. Before, the text `{{ 3 }}` is the text `3` unless a project sets
`jinja2_native`, which in turn makes a number of the text `3.5`. So there, what the task's author wrote is
templated once more: a template that is one expression keeps its value as it is, and all others are text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from jinja2 import pass_context

try:
    from ansible.template import AnsibleNativeEnvironment
    from ansible.utils.unsafe_proxy import wrap_var
    trusted = str
except ImportError:  # 2.19 and later
    from ansible.template import trust_as_template as trusted

    AnsibleNativeEnvironment = None


def typed_arguments(task: Any, templar: Any, omit: object) -> dict[str, Any]:
    """The arguments of a task, each of its own type."""
    arguments = dict(task.args)
    written = task.get_ds() if AnsibleNativeEnvironment is not None else None
    raw = written.get(task.action) if isinstance(written, Mapping) else None
    if not isinstance(raw, Mapping):
        return arguments
    typed = _typed(templar)
    for name in raw.keys() & arguments.keys():
        arguments[name] = _without(omit, typed.template(raw[name]))
    return arguments


class Evaluator:
    """Evaluates what a role's author wrote, in the variables of a task and some more."""

    def __init__(self, templar: Any, variables: Mapping[str, Any], more: Mapping[str, Any]) -> None:
        if AnsibleNativeEnvironment is None:
            # The same templar, as a copy would look up each filter again.
            self._templar, self._known = templar, {**variables, **more}
            return
        self._known = {**variables, **wrap_var(more)}
        made = templar.copy_with_new_env(available_variables=self._known)
        self._templar = _with_lookups_of(made)

    def value(self, written: Any) -> Any:
        """Of the type that the template makes."""
        with self._in_their_place():
            return self._templar.template(written)

    def is_true(self, condition: Any) -> bool:
        """As the `when` of a task, and strictly a boolean, as from ansible-core 2.19 on."""
        if AnsibleNativeEnvironment is None:
            with self._in_their_place():
                return bool(self._templar.evaluate_conditional(condition))
        is_text = isinstance(condition, str)
        found = self.value("{{ " + condition + " }}") if is_text else condition
        if not isinstance(found, bool):
            raise TypeError(f"must be true or false, and is `{found}`")
        return found

    @contextmanager
    def _in_their_place(self) -> Iterator[None]:
        """The templar's own variables are back afterwards."""
        before = self._templar.available_variables
        self._templar.available_variables = self._known
        try:
            yield
        finally:
            self._templar.available_variables = before


def _with_lookups_of(templar: Any) -> Any:
    """Lookups see the variables of the templar that they were made for, which a copy shares."""
    made = _typed(templar)
    lookups = {"lookup": templar._lookup, "query": templar._query_lookup, "q": templar._query_lookup}
    made.environment.globals = {**made.environment.globals, **lookups}
    return made


def _typed(templar: Any) -> Any:
    made = templar.copy_with_new_env(environment_class=_environment(), finalize=_finalized)
    made.jinja2_native = True  # keeps what an expression makes, also of variables on the way
    return made


def _environment() -> type:
    return type("TypedEnvironment", (AnsibleNativeEnvironment,), {"concat": staticmethod(_joined)})


def _joined(nodes: Any) -> Any:
    first = list(islice(nodes, 2))
    if len(first) == 1:
        return first[0]
    rest = nodes if isinstance(nodes, Iterator) else nodes[2:]
    return "".join(map(str, chain(first, rest)))


@pass_context  # which also keeps Jinja from making text of a constant beforehand
def _finalized(_context: Any, value: Any) -> Any:
    if type(value).__name__.endswith("Undefined"):
        str(value)  # says which
    return list(value) if isinstance(value, Iterator) else value


def _without(omit: object, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without(omit, item) for key, item in value.items() if item != omit}
    if isinstance(value, list):
        return [_without(omit, item) for item in value if item != omit]
    return value
