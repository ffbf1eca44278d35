"""Compiled templates are kept by all that their code depends on, so they say what new ones say."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_STAGE = """
import importlib, json
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([])
from ansible._internal._templating._engine import TemplateEngine, TemplateOptions
from ansible._internal._templating._jinja_bits import AnsibleEnvironment, TemplateOverrides
from ansible.template import trust_as_template as text
from rolecall.runner.warm.hooks import seams
from rolecall.runner.warm.hooks.templates import TemplateShelf
compiled = []
original = AnsibleEnvironment._compile
AnsibleEnvironment._compile = lambda self, *args: (compiled.append(1), original(self, *args))[1]
if {is_kept}:
    seams._wrap_environment(AnsibleEnvironment, TemplateShelf())
def engine(**variables):
    return TemplateEngine(variables=variables)
def outcome(act):
    try:
        return act()
    except Exception as error:
        return [type(error).__name__, str(error)]
def told(*acts):
    print(json.dumps([[outcome(act) for act in acts], len(compiled)]))
"""

# Each says something twice and more; kept or not, it must say the same.
_CASES = {
    "same_text_other_values": """
told(*[lambda n=n: engine(a=n).template(text("{{ a + 1 }}")) for n in (1, 2)])""",
    "condition": """
told(*[lambda n=n: engine(a=n).evaluate_conditional(text("a == 1 and b is not defined"))
       for n in (1, 2, 1)])""",
    "text_and_condition_of_the_same_letters": """
told(lambda: engine(a=1).template(text("a == 1")),
     lambda: engine(a=1).evaluate_conditional(text("a == 1")),
     lambda: engine(a=1).template(text("a == 1")))""",
    "backslashes_read_both_ways": r"""
options = [TemplateOptions(escape_backslashes=flag) for flag in (True, False, True)]
told(*[lambda o=o: engine().template(text(r"{{ 'a\\nb' }}"), options=o) for o in options])""",
    "other_delimiters": """
other = TemplateOverrides.from_kwargs(dict(variable_start_string="<<", variable_end_string=">>"))
told(lambda: engine(a=1).template(text("{{ a }} << a >>")),
     lambda: engine(a=1).template(text("{{ a }} << a >>"), options=TemplateOptions(overrides=other)),
     lambda: engine(a=1).template(text("{{ a }} << a >>")))""",
    "unknown_filter": """
told(*[lambda: engine(a=1).template(text("{{ a | nobodys }}")) for _ in range(2)])""",
    "unknown_filter_in_a_branch_not_taken": """
told(*[lambda n=n: engine(a=n).template(text("{% if a %}{{ a | nobodys }}{% endif %}"))
       for n in (0, 1, 0)])""",
    "syntax_error": """
told(*[lambda: engine(a=1).template(text("{{ a ")) for _ in range(2)],
     *[lambda: engine(a=1).evaluate_conditional(text("a ==")) for _ in range(2)])""",
    "error_names_the_place": """
told(*[lambda: engine(a=1).template(text("{{ 'line 1' }}\\n{{ missing.deep }}")) for _ in range(2)])""",
    "filter_that_wants_the_context_where_another_did_not": """
def kept(name, function):
    made = engine(a=1)
    made.environment.filters[name] = function
    return made
from jinja2 import pass_context
plain, greedy = (lambda value: f"plain {value}"), pass_context(lambda _, value: f"greedy {value}")
told(*[lambda f=f: kept("mine", f).template(text("{{ a | mine }}"))
       for f in (plain, greedy, plain)])""",
    "nested_templates": """
told(*[lambda n=n: engine(a=text("{{ b * 2 }}"), b=n).template(text("{{ a }}")) for n in (1, 2, 1)])""",
}


def _told(case: str, *, is_kept: bool) -> tuple[list[object], int]:
    program = _STAGE.replace("{is_kept}", str(is_kept)) + _CASES[case]
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    said, compiled = json.loads(process.stdout)
    return said, compiled


@pytest.mark.parametrize("case", _CASES)
def test_kept_code_says_what_new_code_says(case: str) -> None:
    said, compiled = _told(case, is_kept=True)
    expected, compiled_anew = _told(case, is_kept=False)
    assert said == expected
    assert compiled <= compiled_anew


def test_text_is_compiled_once() -> None:
    assert _told("same_text_other_values", is_kept=True)[1] == 1
    assert _told("same_text_other_values", is_kept=False)[1] == 2
