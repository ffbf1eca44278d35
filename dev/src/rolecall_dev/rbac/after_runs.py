"""Rights for what extensions do after runs: to prune, and to watch what was read.

What a role reads through a shell or with kinds that only a run knows is not found here; the engine then
says which rule lacks.
"""

from __future__ import annotations

from rolecall.watches import Watch
from rolecall_dev.rbac.kinds import KindNames
from rolecall_dev.rbac.rights import Rights


def add_for_extensions(watch: Watch, own: Rights, kinds: KindNames, rights: Rights) -> None:
    """Given what the watch's own play does."""
    for asked in watch.of_extensions:
        named = {(gvk.group, kinds.resource(gvk.group, gvk.kind)[0]) for gvk in asked.named_kinds}
        for place, verbs in own.by_resource().items():
            if "/" not in place[1]:
                added = asked.verbs_after(set(verbs), place, is_named=place in named)
                rights.add(*place, added, f"{asked.purpose}, for {watch.gvk.kind}")
