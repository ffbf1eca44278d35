"""Reads `validate` and `mutate` of an entry, with all that the API server would refuse of them.

Keys of our own: the Go operator knows none of them, so an unknown one is an error here, and no warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import yaml

from rolecall.documents import Fields, Report
from rolecall.gvk import Gvk
from rolecall.watches import (
    EntryContext,
    ExtensionKeys,
    Play,
    Watch,
    is_qualified_name,
    read_play,
    read_selector,
)
from rolecall.webhooks.cel import reads_request, reads_schema, why_wrong
from rolecall.webhooks.keys import CEL_RULE_KEYS, CONDITION_KEYS, VALIDATE_KEYS, WEBHOOK_KEYS
from rolecall.webhooks.registrations import Webhook

_DEFAULT_S, _LONGEST_S = 10, 30
_OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_CHANGING = ("CREATE", "UPDATE")
_MOST_CONDITIONS = 64


@dataclass(frozen=True, slots=True)
class AdmissionRule:
    """One CEL expression, which the API server checks by itself."""

    rule: str
    message: str
    line: int = 0
    # With `self`: a validation rule of the CRD. Else one of a ValidatingAdmissionPolicy.
    is_of_schema: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """What the API server asks before it stores an object, and which requests it asks about."""

    play: Play | None = None  # None: rules alone
    line: int = 0
    operations: Sequence[str] = ("CREATE", "UPDATE")
    subresources: Sequence[str] = ()
    failure_policy: str = "Fail"
    timeout_s: int = 10
    match_conditions: Sequence[Mapping[str, str]] = ()  # name and expression
    # As the API has them, checked.
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    rules: Sequence[AdmissionRule] = ()


@dataclass(frozen=True, slots=True)
class AdmissionKeys(ExtensionKeys):
    """What is asked before an object is stored: first `mutate`, then `validate`."""

    keys = WEBHOOK_KEYS

    validate: Admission | None = None
    mutate: Admission | None = None

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:
        validate, mutate = (
            _read_admission(fields, name, context, report) for name in ("validate", "mutate")
        )
        return cls(validate, mutate) if validate or mutate else None

    @property
    def asked(self) -> Iterator[tuple[Admission, Play, bool]]:
        """What a play answers, and whether it may change the object."""
        for admission, is_mutating in ((self.mutate, True), (self.validate, False)):
            if admission is not None and admission.play is not None:
                yield admission, admission.play, is_mutating

    @property
    def reading_plays(self) -> tuple[Play, ...]:
        return tuple(play for _, play, _ in self.asked)

    def webhooks(self, gvk: Gvk) -> Iterator[Webhook]:
        """One for each of `validate` and `mutate` that has a play."""
        for admission, _, is_mutating in self.asked:
            yield Webhook(
                is_mutating=is_mutating,
                group=gvk.group,
                version=gvk.version,
                kind=gvk.kind,
                operations=admission.operations,
                subresources=admission.subresources,
                failure_policy=admission.failure_policy,
                timeout_s=admission.timeout_s,
                match_conditions=admission.match_conditions,
                namespace_selector=admission.namespace_selector,
                object_selector=admission.object_selector,
            )


def validation_of(watch: Watch) -> Admission | None:
    keys = watch.extension(AdmissionKeys)
    return keys.validate if keys is not None else None


def _read_admission(
    entry: Fields, name: str, context: EntryContext, report: Report
) -> Admission | None:
    """What `validate` or `mutate` says; None where it is not there."""
    node = entry.submap(name)
    if node is None:
        return None
    is_mutating = name == "mutate"
    # With the key `rules` for both, so that the error names the way out, and not an unknown key.
    fields = Fields(node, VALIDATE_KEYS, report, is_strict=True)
    if is_mutating:
        _refuse_rules(fields, report)
    rules = () if is_mutating else tuple(_rules(fields, report))
    return Admission(
        play=_play(fields, name, context, report, needs_one=not rules),
        line=fields.line,
        operations=_operations(fields, report, is_mutating=is_mutating),
        subresources=_subresources(fields, report),
        failure_policy=fields.choice("failurePolicy") or "Fail",
        timeout_s=_timeout(fields, report),
        match_conditions=tuple(_conditions(fields, report)),
        namespace_selector=_selector(fields, "namespaceSelector", report),
        object_selector=_selector(fields, "objectSelector", report),
        rules=rules,
    )


def _refuse_rules(fields: Fields, report: Report) -> None:
    if fields.node_of("rules") is not None:
        report.error(
            fields.line_of("rules"),
            "`mutate` takes no rules: a rule says yes or no, and changes nothing",
            hint="move them to `validate`; a default belongs into the CRD's schema or into a role",
        )


def _play(
    fields: Fields, name: str, context: EntryContext, report: Report, *, needs_one: bool
) -> Play | None:
    if fields.text("playbook") or fields.text("role"):
        return read_play(fields, context, report.error, report.warn)
    if needs_one:
        or_rules = ", or `rules:`" if name == "validate" else ""
        report.error(
            fields.line,
            f"`{name}` names nothing that is asked",
            hint=f"add `role:` with a role's name{or_rules}",
        )
    return None


def _operations(fields: Fields, report: Report, *, is_mutating: bool) -> tuple[str, ...]:
    said = tuple(dict.fromkeys(fields.texts("operations")))
    line = fields.line_of("operations")
    for operation in said:
        if operation not in _OPERATIONS:
            report.error(
                line, f"operation `{operation}` is none of {', '.join(_OPERATIONS)}, in capitals"
            )
        elif is_mutating and operation not in _CHANGING:
            report.error(
                line,
                f"`mutate` cannot be asked about {operation}: there is no object to be changed",
                hint=f"take {operation} to `validate`",
            )
    if "CONNECT" in said and not fields.texts("subresources"):
        report.error(
            line,
            "CONNECT concerns subresources alone, and none is named",
            hint="add `subresources: [exec]`, say",
        )
    return said or _CHANGING


def _subresources(fields: Fields, report: Report) -> tuple[str, ...]:
    said = tuple(dict.fromkeys(fields.texts("subresources")))
    for each in said:
        if not each or "/" in each or each != each.lower():
            report.error(
                fields.line_of("subresources"),
                f"`{each}` is not a subresource; name one such as `scale`",
            )
    return said


def _timeout(fields: Fields, report: Report) -> int:
    said = fields.duration("timeout")
    if said is None:
        return _DEFAULT_S
    if not 1 <= said <= _LONGEST_S or said != int(said):
        report.error(
            fields.line_of("timeout"),
            f"timeout `{said:g}s` is not one of the whole seconds from 1s to {_LONGEST_S}s that the"
            " API server takes",
        )
    return int(said)


def _conditions(fields: Fields, report: Report) -> Iterator[dict[str, str]]:
    names: set[str] = set()
    nodes = fields.items("matchConditions")
    if len(nodes) > _MOST_CONDITIONS:
        line = fields.line_of("matchConditions")
        report.error(line, f"the API server takes at most {_MOST_CONDITIONS} matchConditions")
    for node in nodes:
        if not isinstance(node, yaml.MappingNode):
            line, keys = report.line(node), "`name` and `expression`"
            report.error(line, f"an entry of matchConditions must be a map with {keys}")
            continue
        inner = Fields(node, CONDITION_KEYS, report, is_strict=True)
        name, expression = inner.text("name"), inner.text("expression")
        if not is_qualified_name(name) or name in names:
            report.error(inner.line_of("name"), f"`{name}`: invalid or duplicate condition name")
        names.add(name)
        line = inner.line_of("expression")
        if why := why_wrong(expression):
            report.error(line, f"the expression of `{name}` {why}")
        elif reads_schema(expression):
            hint = "a condition reads `object`, `oldObject` and `request`"
            report.error(line, f"the expression of `{name}` reads `self`", hint=hint)
        yield {"name": name, "expression": expression}


def _selector(fields: Fields, name: str, report: Report) -> dict[str, object]:
    """As it stands, once our own reader of selectors found nothing wrong with it."""
    node = fields.submap(name)
    if node is None:
        return {}
    read_selector(node, report)
    return fields.data(name)


def _rules(fields: Fields, report: Report) -> Iterator[AdmissionRule]:
    for node in fields.items("rules"):
        if not isinstance(node, yaml.MappingNode):
            report.error(report.line(node), "a rule must be a map with `rule` and `message`")
            continue
        inner = Fields(node, CEL_RULE_KEYS, report, is_strict=True)
        rule, message = inner.text("rule"), inner.text("message").strip()
        if not message:
            report.error(
                inner.line,
                "a rule has no message",
                hint="add `message:` with what is wrong and the way out; users read nothing else",
            )
        if "\n" in message:
            report.error(inner.line_of("message"), "the message of a rule must be one line")
        _check_rule(rule, inner.line_of("rule"), report)
        yield AdmissionRule(rule, message, inner.line, is_of_schema=reads_schema(rule))


def _check_rule(rule: str, line: int, report: Report) -> None:
    if why := why_wrong(rule):
        report.error(line, f"the rule {why}")
        return
    of_schema, of_request = reads_schema(rule), reads_request(rule)
    if of_schema and of_request:
        report.error(
            line,
            "the rule reads `self` and the request: the API server checks the two in different places",
            hint="write it with `object` and `oldObject` instead of `self` and `oldSelf`,"
            " or as two rules",
        )
    elif not (of_schema or of_request):
        report.error(
            line,
            "the rule reads neither `self` nor `object` nor `request`, so it says nothing of the"
            " object",
        )
