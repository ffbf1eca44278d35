"""The extra vars of a run: what the CR says, in the names and the order that existing roles expect.

The hard part is that Ansible treats variables as templates, while CR text comes from anyone who may
write a CR. So every text of the CR is marked unsafe, which Ansible then never templates; `vars` of the
watches file come from the operator's author and stay templates. Marked text is written as JSON objects
with one `__ansible_unsafe` key, as the Go operator does it. JSON cannot mark a mapping's keys, and it
has no way to say that a CR itself contains such a key, so those rare files are written as YAML with
`!unsafe` tags, slower but exact.

Rejected: always YAML (loading it costs several times more than JSON, in each run), and escaping braces
(roles would see changed text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.runner.contract import RunRequest

# Ansible turns JSON objects with one of these keys into something other than a mapping.
_RESERVED_KEYS = frozenset({"__ansible_unsafe", "__ansible_vault", "__ansible_type"})
# Ansible reads as YAML what it cannot read as JSON, for whatever reason, and there nothing of a JSON
# file would be marked: a CR with 250 lists in each other would have all of its text templated, and
# where that is wanted, its numbers would be other ones. JSON may begin with a tab, YAML must not, so
# such a file cannot be read at all.
_JSON_ALONE = "\t"
_TEMPLATE_MARKS = ("{{", "{%", "{#")
# What JSON leaves as it is, and a YAML reader refuses or folds.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_RESOLVER = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"
_SPECIAL_WORDS = ("HTTP", "URL", "IP")
_NUMBER_INSIDE = re.compile(r"([A-Za-z])([0-9]+)([A-Za-z][0-9]+)")


class Unsafe(str):
    """Text that Ansible must not template."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ExtraVars:
    """The extra vars of one run, and the names that a CR may not set."""

    values: Json  # texts of the CR are `Unsafe` unless they are trusted
    # Spec keys that would have configured Ansible itself; left out, in order of appearance.
    withheld: tuple[str, ...] = ()

    def dump(self) -> str:
        """The text of `env/extravars`: JSON, or YAML where JSON cannot say it."""
        if any(_needs_yaml(mapping) for mapping in _mappings(self.values)):
            return _yaml(self.values)
        return _JSON_ALONE + json.dumps(_encoded(self.values))


def extra_vars(request: RunRequest, *, trust_cr_text: bool = False) -> ExtraVars:
    """Build the extra vars of a run; later entries overwrite earlier ones, in the Go operator's order.

    Raises `RecursionError` for a CR that is nested too deeply to be handed on.
    """
    terms, cr = request.terms, request.cr
    if request.variables is not None:
        given = {name: _unsafe(value) for name, value in request.variables.items()}
        return ExtraVars({**given, **terms.vars})
    is_trusted = trust_cr_text or terms.trusts_cr_text
    spec = cr.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    passed = {key: value for key, value in spec.items() if key not in request.withheld}
    named = snake_cased(passed) if terms.snake_case_parameters else passed
    withheld: tuple[str, ...] = ()
    if not is_trusted:
        withheld = tuple(name for name in named if name.startswith("ansible_"))
        cr, spec = _unsafe(cr), _unsafe(spec)
        named = _unsafe({name: named[name] for name in named if name not in withheld})
    values = {name: value for name, value in named.items() if name.strip()}
    values["ansible_operator_meta"] = _meta(request.cr)
    values[cr_variable(terms.gvk)] = cr
    values[f"{cr_variable(terms.gvk)}_spec"] = spec
    values.update(terms.vars)
    return ExtraVars(values, withheld)


def cr_variable(gvk: Gvk) -> str:
    """The variable that carries a whole CR, e.g. `_cache_example_com_memcached`."""
    return f"_{gvk.group}_{gvk.kind.lower()}".replace(".", "_").replace("-", "_")


def _meta(cr: Mapping[str, Any]) -> Json:
    metadata = cr.get("metadata") or {}
    meta = {key: str(metadata.get(key) or "") for key in ("namespace", "name")}
    # Most names cannot hold a template, but those of RBAC objects can.
    return {key: Unsafe(text) if "{" in text else text for key, text in meta.items()}


def _unsafe(value: Any) -> Any:
    """The same value with every text in it marked, keys of mappings too."""
    if isinstance(value, str):
        return Unsafe(value)
    if isinstance(value, dict):
        return {Unsafe(key): _unsafe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unsafe(item) for item in value]
    return value


def _encoded(value: Any) -> Any:
    if isinstance(value, Unsafe):
        return {"__ansible_unsafe": str(value)}
    if isinstance(value, dict):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    return value


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _mappings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _mappings(item)


def _needs_yaml(mapping: Mapping[str, Any]) -> bool:
    return any(
        isinstance(key, Unsafe)
        and (key in _RESERVED_KEYS or any(mark in key for mark in _TEMPLATE_MARKS))
        for key in mapping
    )


def _yaml(value: Any) -> str:
    """The same value as YAML in one line; hand-made, since PyYAML's writer takes seconds for 1 MB."""
    if isinstance(value, Unsafe):
        # From ansible-core 2.19 on, a tagged text that looks like something else becomes that: `yes` a
        # boolean, nothing at all null. Such a text is no template, so it needs no mark.
        tag = _RESOLVER.resolve(yaml.ScalarNode, str(value), (True, False))  # type: ignore[no-untyped-call]
        is_text = tag == _TEXT
        return f"!unsafe {_quoted(value)}" if is_text else _quoted(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        # Explicit keys, because implicit ones must not be longer than 1024 characters.
        items = (f"? {_yaml(key)} : {_yaml(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    text = json.dumps(value)
    # YAML 1.1 takes `1e+20` for text.
    is_float = isinstance(value, float) and "." not in text
    return text.replace("e", ".0e") if is_float else text


def _quoted(text: str) -> str:
    quoted = json.dumps(str(text), ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda match: f"\\U{ord(match[0]):08x}", quoted)


def snake_cased(value: Any) -> Any:
    """The same value with every key of every mapping in snake case, values untouched.

    Where keys collide, one that is spelled that way already wins, else the first in sorted order.
    """
    if isinstance(value, list):
        return [snake_cased(item) for item in value]
    if not isinstance(value, dict):
        return value
    winners: dict[str, str] = {}
    for key in value:
        name = snake_case(key)
        rival = winners.get(name)
        if rival is None or key == name or (rival != name and key < rival):
            winners[name] = key
    return {name: snake_cased(value[key]) for name, key in winners.items()}


@lru_cache(maxsize=4096)
def snake_case(key: str) -> str:
    """One key as the Go operator spells it; a blank key stays as it is, instead of crashing."""
    text = _NUMBER_INSIDE.sub(r"\1 \2 \3", key).strip(" ")
    if not text:
        return key
    starts_upper = "A" <= text[0] <= "Z"
    for word in _SPECIAL_WORDS:
        text = _set_apart(text, word)
    words = [word.lower() for word in _split_words(text)]
    snake = "_".join(words)
    if starts_upper and words[0] not in ("http", "url", "ip"):
        return f"_{snake}"
    return snake


def _set_apart(text: str, word: str) -> str:
    """Put underscores around the first `word`; a lower-case `s` after it makes it a plural."""
    start = text.find(word)
    if start < 0:
        return text
    end = start + len(word)
    if end == len(text):
        return f"{text[:start]}_{word}"
    is_plural = text[end] == "s"
    if is_plural:
        word, end = f"{word}S", end + 1
        if end == len(text):
            return f"{text[:start]}_{word}"
    if start == 0:
        return f"{word}_{text[end:]}"
    return f"{text[:start]}_{word}_{text[end:]}"


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    word = ""
    for index, character in enumerate(text):
        following = text[index + 1] if index + 1 < len(text) else ""
        if word and word[-1] != "_" and _is_case_boundary(character, following):
            if character.isupper():
                words.append(word)
                word = character
            else:
                words.append(word + character)
                word = ""
        elif character in " _-":
            words.append(word)
            word = ""
        else:
            word += character
    words.append(word)
    return words


def _is_case_boundary(character: str, following: str) -> bool:
    def is_upper(letter: str) -> bool:
        return "A" <= letter <= "Z"

    def is_lower(letter: str) -> bool:
        return "a" <= letter <= "z"

    return (is_upper(character) and is_lower(following)) or (
        is_lower(character) and is_upper(following)
    )
