"""What the API server refused a run because the operator lacks a right, so that its failure can say so.

Promise: a task's failure names a missing right only where the API server refused just that to this
very run, and the task's own words repeat the refusal. A role that handles a refusal, and fails
over something else, gets no wrong advice; nor can the words of a CR forge any.

The server's sentence is the same in its answer, in what Python's client makes of it, and in what
kubectl prints, but for quotes and backslashes: these are left out before the two are compared.
Refusals by a quota or a webhook are 403, too, and no missing right: they read otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rolecall.gvk import Gvk
from rolecall.kube import Resource, Target, missing_rule_hint

# A role that loops over refusals must not fill the memory: the failed task's was among the last.
_MOST_KEPT = 32
_QUOTES = re.compile(r"[\\\"'`]+")
_REFUSAL = re.compile(
    r"cannot (?P<verb>[a-z]+) "
    r"(?:resource (?P<plural>[a-z0-9.-]+)(?:/(?P<sub>[a-z]+))? in API group (?P<group>[a-z0-9.-]*) "
    r"(?:in the namespace (?P<namespace>[a-z0-9-]+)|at the cluster scope)"
    r"|path (?P<path>/[A-Za-z0-9._~/-]*))"
)


class RefusedRights:
    """The rights that one run was refused, the newest last."""

    def __init__(self) -> None:
        self._by_words: dict[str, Target] = {}

    def note(self, answer: object) -> None:
        """Look at an answer of code 403."""
        if not isinstance(answer, bytes):
            return
        refused = _REFUSAL.search(_unquoted(answer.decode(errors="replace")))
        if refused is None:
            return
        self._by_words.pop(refused[0], None)
        self._by_words[refused[0]] = _target_of(refused)
        if len(self._by_words) > _MOST_KEPT:
            del self._by_words[next(iter(self._by_words))]

    def hint_for(self, text: str, needed: Sequence[str] = ()) -> str:
        """The right that a failed task lacked, and the rule that grants all verbs that it needs.

        Empty where the task failed for another reason.
        """
        for said in _REFUSAL.finditer(_unquoted(text)):
            if (target := self._by_words.get(said[0])) is not None:
                return f"{_lack(target)}: {missing_rule_hint(_with_all_verbs(target, needed))}"
        return ""


def _unquoted(text: str) -> str:
    return _QUOTES.sub("", text)


def _target_of(refused: re.Match[str]) -> Target:
    if refused["path"]:
        return Target(refused["verb"], path=refused["path"])
    namespace = refused["namespace"] or ""
    resource = Resource(
        Gvk(refused["group"], "", ""), plural=refused["plural"], namespaced=bool(namespace)
    )
    return Target(refused["verb"], resource, namespace, subresource=refused["sub"] or "")


def _with_all_verbs(target: Target, needed: Sequence[str]) -> Target:
    """The refused verb and the others; a subresource or a path is not what the module writes."""
    if target.subresource or target.path or target.verb not in needed:
        return target
    return replace(target, verb=", ".join(needed))


def _lack(target: Target) -> str:
    if target.resource is None:
        return f"the operator may not {target}"
    scope = f"in namespace `{target.namespace}`" if target.namespace else "at the cluster scope"
    return f"the operator may not {target.verb} {target.rbac_name} {scope}"
