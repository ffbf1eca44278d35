"""The objects that runs of a CR asked for by name: only of those do owners from elsewhere count.

An annotation may name an owner in another namespace, and a reference one without a namespace. Any user
can write such a name on an object of their own, and would start a run of another tenant's CR with each
change of it. So the owner is believed where its runs made, changed or read that very object by name.

Each is a number of 64 bits. Beyond the bound the oldest are forgotten, and count again at the next run.
"""

from __future__ import annotations

from collections import OrderedDict

from rolecall.kube import Resource
from rolecall.workqueue import Key

_MOST = 200_000


class AskedObjects:
    def __init__(self) -> None:
        self._marks: OrderedDict[int, None] = OrderedDict()

    def note(self, owner: Key, group: str, plural: str, namespace: str, name: str) -> None:
        """A run of the owner asked for this object."""
        mark = hash((owner, group, plural, namespace, name))
        self._marks[mark] = None
        self._marks.move_to_end(mark)
        while len(self._marks) > _MOST:
            self._marks.popitem(last=False)

    def has(self, mark: int) -> bool:
        return mark in self._marks


def mark_of(owner: Key, resource: Resource, namespace: str, name: str) -> int:
    """What `AskedObjects.has` knows an object by; 0: its owner needs no proof.

    Who may write objects in the namespace of a CR may as well disturb what it made there.
    """
    if owner.namespace and owner.namespace == namespace:
        return 0
    return hash((owner, resource.gvk.group, resource.plural, namespace, name))
