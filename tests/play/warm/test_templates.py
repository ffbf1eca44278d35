"""Compiled templates are kept by all that their code depends on, so they say what new ones say."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rolecall_warm.hooks.digests import version_of_core
from rolecall_warm.hooks.sources import family_of

_PROGRAM = """
import importlib, json
from rolecall_warm.hooks.streams import StreamSettings
streams = StreamSettings.of_this_process()
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([])
from rolecall_warm.hooks import seams
from rolecall_warm.hooks.cores import core_at_hand
from rolecall_warm.hooks.templates import CompiledTemplates
rules = core_at_hand(streams).template_rules()
compiled = []
original = rules.environment._compile
rules.environment._compile = lambda self, *args: (compiled.append(1), original(self, *args))[1]
if {is_kept}:
    seams._wrap_environment(rules.environment, CompiledTemplates(rules))
def outcome(act):
    try:
        return act()
    except Exception as error:
        return [type(error).__name__, str(error)]
def outcomes(*acts):
    print(json.dumps([[outcome(act) for act in acts], len(compiled)]))
"""
_SINCE_2_19 = """
from ansible._internal._templating._engine import TemplateEngine, TemplateOptions
from ansible._internal._templating._jinja_bits import TemplateOverrides
from ansible.template import trust_as_template as text
def engine(**variables):
    return TemplateEngine(variables=variables)
"""
_BEFORE_2_19 = """
from ansible.playbook.conditional import Conditional
from ansible.template import Templar
text = str
class engine(Templar):
    def __init__(self, **variables):
        super().__init__(loader=None, variables=variables)
    def evaluate_conditional(self, condition):
        task = Conditional(loader=None)
        task.when = [condition]
        return task.evaluate_conditional(self, self._available_variables)
"""
_IS_2_18 = family_of(version_of_core()) == "2.18"

# Each says something twice and more; kept or not, it must say the same.
_EVERYWHERE = {
    "same_text_other_values": """
outcomes(*[lambda n=n: engine(a=n).template(text("{{ a + 1 }}")) for n in (1, 2)])""",
    "condition": """
outcomes(*[lambda n=n: engine(a=n).evaluate_conditional(text("a == 1 and b is not defined"))
       for n in (1, 2, 1)])""",
    "text_and_condition_of_the_same_letters": """
outcomes(lambda: engine(a=1).template(text("a == 1")),
     lambda: engine(a=1).evaluate_conditional(text("a == 1")),
     lambda: engine(a=1).template(text("a == 1")))""",
    "unknown_filter": """
outcomes(*[lambda: engine(a=1).template(text("{{ a | unknown }}")) for _ in range(2)])""",
    "unknown_filter_in_a_branch_not_taken": """
outcomes(*[lambda n=n: engine(a=n).template(text("{% if a %}{{ a | unknown }}{% endif %}"))
       for n in (0, 1, 0)])""",
    "syntax_error": """
outcomes(*[lambda: engine(a=1).template(text("{{ a ")) for _ in range(2)],
     *[lambda: engine(a=1).evaluate_conditional(text("a ==")) for _ in range(2)])""",
    "error_names_the_place": """
outcomes(*[lambda: engine(a=1).template(text("{{ 'line 1' }}\\n{{ missing.deep }}"))
           for _ in range(2)])""",
    "filter_that_wants_the_context_where_another_did_not": """
def kept(name, function):
    made = engine(a=1)
    made.environment.filters[name] = function
    return made
from jinja2 import pass_context
plain, greedy = (lambda value: f"plain {value}"), pass_context(lambda _, value: f"greedy {value}")
outcomes(*[lambda f=f: kept("mine", f).template(text("{{ a | mine }}"))
       for f in (plain, greedy, plain)])""",
    "nested_templates": """
outcomes(*[lambda n=n: engine(a=text("{{ b * 2 }}"), b=n).template(text("{{ a }}"))
           for n in (1, 2, 1)])""",
}


_ONLY_SINCE_2_19 = {
    "backslashes_read_both_ways": r"""
options = [TemplateOptions(escape_backslashes=flag) for flag in (True, False, True)]
outcomes(*[lambda o=o: engine().template(text(r"{{ 'a\\nb' }}"), options=o) for o in options])""",
    "other_delimiters": """
other = TemplateOverrides.from_kwargs(dict(variable_start_string="<<", variable_end_string=">>"))
outcomes(lambda: engine(a=1).template(text("{{ a }} << a >>")),
     lambda: engine(a=1).template(text("{{ a }} << a >>"), options=TemplateOptions(overrides=other)),
     lambda: engine(a=1).template(text("{{ a }} << a >>")))""",
}
_ONLY_BEFORE_2_19 = {
    "backslashes_in_an_expression": r"""
outcomes(*[lambda: engine(a="b").template(r"{{ a | regex_replace('(b)', '\\1') }} \1")
       for _ in range(2)])""",
    "delimiters_of_a_header": """
outcomes(lambda: engine(a=1).template("{{ a }} << a >>"),
     lambda: engine(a=1).template("#jinja2:variable_start_string:'<<',variable_end_string:'>>'\\n"
                                  "{{ a }} << a >>"),
     lambda: engine(a=1).template("{{ a }} << a >>"))""",
}
_CASES = {**_EVERYWHERE, **(_ONLY_BEFORE_2_19 if _IS_2_18 else _ONLY_SINCE_2_19)}


def _reported(case: str, *, is_kept: bool) -> tuple[list[object], int]:
    beginning = _PROGRAM.replace("{is_kept}", str(is_kept))
    program = beginning + (_BEFORE_2_19 if _IS_2_18 else _SINCE_2_19) + _CASES[case]
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    said, compiled = json.loads(process.stdout)
    return said, compiled


@pytest.mark.nightly
@pytest.mark.parametrize("case", _CASES)
def test_kept_code_says_what_new_code_says(case: str) -> None:
    said, compiled = _reported(case, is_kept=True)
    expected, compiled_anew = _reported(case, is_kept=False)
    assert said == expected
    assert compiled <= compiled_anew


def test_text_is_compiled_once() -> None:
    assert _reported("same_text_other_values", is_kept=True)[1] == 1
    assert _reported("same_text_other_values", is_kept=False)[1] == 2


_CHANCE = """
outcomes(*[lambda: engine().template(text("{{ 1000000000 | random }}")) for _ in range(3)])"""


def test_what_is_computed_when_a_template_is_compiled_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(_CASES, "chance", _CHANCE)
    said, _compiled = _reported("chance", is_kept=True)
    assert len(set(map(str, said))) == 3
