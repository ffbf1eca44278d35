"""Who read what, of one kind in one namespace: objects by name, and lists by label selector.

For each CR, it also keeps what its last run saw of an object: a version, or that the object was
missing. A watch event with a state that the run saw or wrote itself does not requeue the CR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rolecall.record import meets_selector
from rolecall.workqueue import Key

MISSING = "-"  # no version of an object
NEVER_SEEN = ""


@dataclass(frozen=True, slots=True)
class ReadsOfKey:
    """What one CR's runs read of a kind in a namespace."""

    names: Mapping[str, str] = field(default_factory=dict)  # with the version that was seen last
    lists: Mapping[str, str] = field(default_factory=dict)  # selectors, with the items' digest
    # Objects that the run wrote or read, as it left them; by namespace and name.
    seen: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def joined(self, more: ReadsOfKey) -> ReadsOfKey:
        """With what another run read, which may not have come as far."""
        return ReadsOfKey(
            {**self.names, **more.names}, {**self.lists, **more.lists}, {**self.seen, **more.seen}
        )


class Readers:
    """Of one kind in one namespace, or of lists over all."""

    def __init__(self) -> None:
        self._by_key: dict[Key, ReadsOfKey] = {}
        self._names: dict[str, set[Key]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._names)

    @property
    def have_lists(self) -> bool:
        return any(reads.lists for reads in self._by_key.values())

    def of(self, key: Key) -> ReadsOfKey:
        return self._by_key.get(key, ReadsOfKey())

    def put(self, key: Key, reads: ReadsOfKey | None) -> None:
        """What a key's last run read; None: it reads nothing here any more."""
        old = self._by_key.pop(key, None)
        for name in old.names if old else ():
            self._names[name].discard(key)
            if not self._names[name]:
                del self._names[name]
        if reads is not None:
            self._by_key[key] = reads
            for name in reads.names:
                self._names.setdefault(name, set()).add(key)

    def by_name(self, name: str) -> Iterator[tuple[Key, str]]:
        """The CRs whose runs read this object, each with the version that its run saw."""
        for key in tuple(self._names.get(name, ())):
            yield key, self._by_key[key].names[name]

    def by_list(self, *labels: Mapping[str, str] | None) -> Iterator[Key]:
        """The CRs whose runs read a list with this object, by its labels before or after the change."""
        for key, reads in tuple(self._by_key.items()):
            known = [each for each in labels if each is not None]
            if any(meets_selector(each, text) for text in reads.lists for each in known):
                yield key

    def all_lists(self) -> Iterator[tuple[Key, str, str]]:
        """Each list with its reader and what it showed."""
        for key, reads in tuple(self._by_key.items()):
            for selector, digest in reads.lists.items():
                yield key, selector, digest
