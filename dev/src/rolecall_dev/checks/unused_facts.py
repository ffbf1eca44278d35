"""Plays of playbooks that gather facts of the machine which nothing in them uses: a second a run.

A note and no warning: such a play is right, only slow. Where a role is not in the project, or a name is
made by a template, a fact may be used, and there is no note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rolecall.watches import Watch
from rolecall_dev.checks.never_skipped import Reached
from rolecall_dev.sources import Findings, Sources, is_play, roles_named

# Variables of Ansible's and the engine's own that are no facts.
_NO_FACTS = (
    "operator_meta",
    "check_mode",
    "version",
    "play_",
    "role_",
    "parent_role_",
    "collection_name",
    "loop",
    "index_var",
    "verbosity",
    "diff_mode",
    "run_tags",
    "skip_tags",
    "limit",
    "failed_",
    "search_path",
    "connection",
    "python_interpreter",
    "collections",
)
_FACT = re.compile(rf"\bansible_(?!{'|'.join(_NO_FACTS)})\w|\bhostvars\b|\bvars\s*\[|\bsetup\s*:")
_MOST_BYTES = 1024 * 1024


def check_unused_facts(
    watches: Sequence[Watch], sources: Sources, gathering: str, findings: Findings
) -> None:
    """`gathering`: what ANSIBLE_GATHERING says here."""
    if gathering == "explicit":
        return
    for watch in watches:
        if watch.play.is_role:
            continue
        reached = Reached(watch.play, sources)
        plays = [task for task in reached.tasks if is_play(task)]
        gather = [play for play in plays if play.data.get("gather_facts", True) is True]
        if gather and _is_whole(reached, sources) and not any(map(_FACT.search, _texts(reached))):
            place = gather[0].place("hosts")
            findings.notes.append(
                f"{place[0]}:{place[1]}: facts of the machine are gathered in each run, and nothing"
                " uses them: `gather_facts: false` saves about a second"
            )


def _is_whole(reached: Reached, sources: Sources) -> bool:
    """Whether all roles that it names are in the project."""
    known = {role.name for role in sources.roles}
    names = [name for task in reached.tasks for name in roles_named(task)]
    return all(name in known for name in names)


def _texts(reached: Reached) -> Iterator[str]:
    for file in reached.files():
        if file.stat().st_size <= _MOST_BYTES:
            yield file.read_text("utf-8", "replace")
