"""Keeps compiled templates, since Ansible compiles each one again whenever it is used.

The same few texts are used in every task (`ansible_playbook_python`), for each item of a loop, in each
run of a role; compiling one costs half a millisecond and more, rendering it a tenth. Kept is the code
that Jinja made, never a value: by the text and whatever else the code depends on, which is the
delimiters, how backslashes are read, and of each filter and test whether it is there and what it wants
passed. What a run compiles is gone with the run; the host only holds what it compiled itself, from the
texts of rehearsals and of role files.

Templates that failed to compile are not kept: their error is told by the one who asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ansible._internal._templating import _jinja_bits
from jinja2 import nodes
from jinja2.environment import TemplateExpression
from jinja2.utils import _PassArg

_MOST = 5000
_LONGEST_TEXT = 64 * 1024
_OPTIONS = _jinja_bits._TEMPLATE_OVERRIDE_FIELD_NAMES

Key = tuple[Any, ...]
# A filter or test by name, and what it wants passed.
Use = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The code of one template, and of which filters and tests it was made."""

    code: CodeType
    uses: tuple[Use, ...]


class TemplateShelf:
    """Compiled templates of this process, and of the one that it was forked from."""

    def __init__(self) -> None:
        self._kept: dict[Key, Kept] = {}
        self._expression: Key | None = None  # whose code `compile` is about to make

    def compile(self, original: Callable[..., Any], env: Any, source: Any) -> Any:
        """The stand-in for `Environment.compile` of a text, or of an expression's tree."""
        if isinstance(source, nodes.Template):
            return self._compile_expression_tree(original, env, source)
        key = self._key_of("template", env, source)
        if key is None:
            return original(env, source)
        kept = self._find(key, env)
        if kept is None:
            with contextlib.suppress(Exception):  # told below, as it always is
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

    def _key_of(self, kind: str, env: Any, source: Any) -> Key | None:
        if (
            not isinstance(source, str)
            or len(source) > _LONGEST_TEXT
            or env._debuggable_template_source
            or type(env) is not _jinja_bits.AnsibleEnvironment
        ):
            return None
        context = _jinja_bits._TemplateCompileContext.current(optional=True)
        escapes = None if context is None else context.escape_backslashes
        # Only the letters: a text's tags (where it comes from, that it is trusted) are not compiled.
        text = str.__str__(source)
        return (kind, text, escapes, env.overlayed, *(getattr(env, name) for name in _OPTIONS))

    def _find(self, key: Key, env: Any) -> Kept | None:
        kept = self._kept.get(key)
        if kept is None or any(_pass_arg(env, kind, name) != arg for kind, name, arg in kept.uses):
            return None
        return kept

    def _keep(self, key: Key, env: Any, tree: nodes.Template, original: Callable[..., Any]) -> Kept:
        uses = {
            (kind, node.name, _pass_arg(env, kind, node.name))
            for kind, cls in (("filters", nodes.Filter), ("tests", nodes.Test))
            for node in tree.find_all(cls)
        }
        kept = Kept(original(env, tree), tuple(sorted(uses)))
        if len(self._kept) < _MOST:
            self._kept[key] = kept
        return kept


def _pass_arg(env: Any, kind: str, name: str) -> str:
    """What the code generator asks of a filter or test; `gone` where it is not there."""
    try:
        function = getattr(env, kind).get(name)
    except Exception:  # one that cannot be loaded, which is for its user to be told
        return "broken"
    if function is None:
        return "gone"
    wanted = _PassArg.from_obj(function)
    return "" if wanted is None else wanted.name
