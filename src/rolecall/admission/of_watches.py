"""Which webhooks the watches ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rolecall.admission.webhook import Webhook
from rolecall.watches import Admission, Watch


def webhooks_of(watches: Iterable[Watch]) -> list[Webhook]:
    """One for each `validate` and `mutate` that has a play; rules alone are the API server's job."""
    return [webhook for watch in watches for webhook in _of(watch)]


def _of(watch: Watch) -> Iterator[Webhook]:
    for admission, is_mutating in ((watch.mutate, True), (watch.validate, False)):
        if admission is not None and admission.play is not None:
            yield _webhook(watch, admission, is_mutating=is_mutating)


def _webhook(watch: Watch, admission: Admission, *, is_mutating: bool) -> Webhook:
    gvk = watch.gvk
    return Webhook(
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
