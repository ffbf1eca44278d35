"""What pruning did about objects that are no longer wanted, as the run file has it: of any shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rolecall.extensions.console.page.health import as_list
from rolecall.json_object import as_map

_LISTS = {
    "reported": "`prune: true` would delete it",
    "deleted": "pruning deleted it, and it exists again",
    "released": "pruning removed the owner reference, because it has other owners",
}


class PruneWords:
    """Of the newest good run."""

    def __init__(self, pruned: Mapping[str, Any]) -> None:
        self._by_object: dict[str, str] = {}
        for name, words in _LISTS.items():
            for each in as_list(pruned.get(name)):
                self._by_object[str(each)] = words
        for row in map(as_map, as_list(pruned.get("kept"))):
            self._by_object[str(row.get("object"))] = f"pruning keeps it: {row.get('why')}"
        lines = [("held", "Nothing was pruned"), ("stopped", "Pruning stopped")]
        self.on_all = [f"{words}: {pruned[name]}" for name, words in lines if pruned.get(name)]
        self.on_all += [
            f"Pruning was refused: {each}" for each in as_list(pruned.get("refused"))[:10]
        ]

    def on(self, kind: str, namespace: str, name: str) -> str:
        """Empty where it says nothing; an object of the CR's namespace is named without it."""
        full, short = f"{kind} {namespace}/{name}", f"{kind} {name}"
        return self._by_object.get(full) or self._by_object.get(short, "")
