"""Keeps compiled templates, since Ansible compiles each one again whenever it is used.

The same few texts are used in every task (`ansible_playbook_python`), for each item of a loop, in each
run of a role; compiling one costs half a millisecond and more, rendering it a tenth. Kept is the code
that Jinja made, never a value: by the text and whatever else the code depends on, which is the
delimiters, how backslashes are read, and of each filter and test whether it is there and what it wants
passed. What a run compiles is gone with the run; the host only holds what it compiled itself, from the
texts of role files and of practice.

Templates that failed to compile are not kept: the caller gets their error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from jinja2 import nodes
from jinja2.environment import TemplateExpression
from jinja2.utils import _PassArg

_MOST = 5000
_LONGEST_TEXT = 64 * 1024

CodeKey = tuple[Any, ...]
# A filter or test by name, and what it wants passed.
Use = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The code of one template, and of which filters and tests it was made."""

    code: CodeType
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class TemplateRules:
    """What differs between releases of ansible-core."""

    environment: type  # the class that compiles
    # Whatever the code depends on besides the text and its filters; None: this one is not kept.
    code_depends_on: Callable[[Any], tuple[Any, ...] | None]
    # Whether a filter of a constant is computed when the template is compiled, so that the code holds
    # an answer which may be another the next time (`10 | random`).
    computes_constants: bool = False


class CompiledTemplates:
    """Compiled templates of this process, and of the one that it was forked from."""

    def __init__(self, rules: TemplateRules) -> None:
        self._rules = rules
        self._kept: dict[CodeKey, Kept] = {}
        self._expression: CodeKey | None = None  # whose code `compile` is about to make

    def compile(self, original: Callable[..., Any], env: Any, source: Any) -> Any:
        """The stand-in for `Environment.compile` of a text, or of an expression's tree."""
        if isinstance(source, nodes.Template):
            return self._compile_expression_tree(original, env, source)
        key = self._key_of("template", env, source)
        if key is None:
            return original(env, source)
        kept = self._find(key, env)
        if kept is None:
            with contextlib.suppress(Exception):  # raised below, as always
                kept = self._keep(key, env, env._parse(source, None, None), original)
        return original(env, source) if kept is None else kept.code

    def compile_expression(
        self, original: Callable[..., Any], env: Any, source: str, undefined_to_none: bool
    ) -> Any:
        """The stand-in for `Environment.compile_expression`."""
        key = self._key_of("expression", env, source)
        kept = None if key is None else self._find(key, env)
        if kept is None:
            self._expression = key
            try:
                return original(env, source, undefined_to_none)
            finally:
                self._expression = None
        template = env.template_class.from_code(env, kept.code, env.make_globals(None), None)
        return TemplateExpression(template, undefined_to_none)

    def _compile_expression_tree(
        self, original: Callable[..., Any], env: Any, tree: nodes.Template
    ) -> Any:
        key, self._expression = self._expression, None
        return original(env, tree) if key is None else self._keep(key, env, tree, original).code

    def _key_of(self, kind: str, env: Any, source: Any) -> CodeKey | None:
        if not isinstance(source, str) or len(source) > _LONGEST_TEXT:
            return None
        if not isinstance(env, self._rules.environment):
            return None
        depends_on = self._rules.code_depends_on(env)
        if depends_on is None:
            return None
        # Only the letters: a text's tags (where it comes from, that it is trusted) are not compiled.
        return (kind, str.__str__(source), *depends_on)

    def _find(self, key: CodeKey, env: Any) -> Kept | None:
        kept = self._kept.get(key)
        if kept is None or any(_pass_arg(env, kind, name) != arg for kind, name, arg in kept.uses):
            return None
        return kept

    def _keep(
        self, key: CodeKey, env: Any, tree: nodes.Template, original: Callable[..., Any]
    ) -> Kept:
        uses = {
            (kind, node.name, _pass_arg(env, kind, node.name))
            for kind, cls in (("filters", nodes.Filter), ("tests", nodes.Test))
            for node in tree.find_all(cls)
        }
        is_lasting = not (self._rules.computes_constants and _computes_constants(tree))
        kept = Kept(original(env, tree), tuple(sorted(uses)))
        if is_lasting and len(self._kept) < _MOST:
            self._kept[key] = kept
        return kept


def _pass_arg(env: Any, kind: str, name: str) -> str:
    """What the code generator asks of a filter or test; `gone` where it is not there."""
    try:
        function = getattr(env, kind).get(name)
    except Exception:  # one that cannot be loaded: its user gets the error
        return "broken"
    if function is None:
        return "gone"
    wanted = _PassArg.from_obj(function)
    return "" if wanted is None else wanted.name


def _computes_constants(tree: nodes.Template) -> bool:
    return any(
        next(node.find_all(nodes.Name), None) is None
        for node in tree.find_all((nodes.Filter, nodes.Test, nodes.Call))
    )
