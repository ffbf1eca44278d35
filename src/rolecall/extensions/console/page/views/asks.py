"""What an action would do, asked before it is done: values in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, path_to, render
from rolecall.workqueue import Key

# The button of each action.
LABELS = {
    "reconcile": "Reconcile now",
    "stop": "Stop the run",
    "pause": "Pause",
    "resume": "Resume",
}


@dataclass(frozen=True, slots=True)
class PatchRight:
    """The right that actions on a CR take."""

    words: str = ""  # `the right to patch websites.demo.example.com in namespace shop`
    rule: str = ""  # of a Role, as YAML
    role: str = ""  # where such a rule stands


@dataclass(frozen=True, slots=True)
class Ask:
    """An action that a reader thinks about."""

    key: Key
    action: str
    right: PatchRight
    may: bool
    why_not: str = ""  # it cannot be done now
    run: str = ""  # that is to stop
    at: str = ""  # the task of that run, for those who may read it
    is_running: bool = False
    is_paused: bool = False


def patch_right(key: Key, plural: str) -> PatchRight:
    group, namespace = key.gvk.group, key.namespace
    resource = f"{plural or key.gvk.kind}.{group}" if group else plural
    where = f"in namespace {namespace}" if namespace else "in the whole cluster"
    rule = (
        f'- apiGroups: ["{group}"]\n'
        f'  resources: ["{plural}"]\n'
        f'  resourceNames: ["{key.name}"]\n'
        f'  verbs: ["patch"]'
    )
    role = f"a Role in namespace {namespace}" if namespace else "a ClusterRole"
    return PatchRight(f"the right to patch {resource} {where}", rule, role)


def ask(asked: Ask, layout: PageLayout) -> Html:
    return page("cr_ask", _title(asked), layout, above=path_to(asked.key), **_values(asked))


def ask_parts(asked: Ask, layout: PageLayout) -> Html:
    """The same for a dialog on another page."""
    return render("cr_ask_dialog", title=_title(asked), layout=layout, **_values(asked))


def _values(asked: Ask) -> dict[str, Any]:
    return {"asked": asked, "back": places.of_cr(asked.key), "label": LABELS[asked.action]}


def _title(asked: Ask) -> str:
    what = f"Stop the run of {asked.key}" if asked.action == "stop" else ""
    return f"{what or f'{asked.action.capitalize()} {asked.key}'}?"
