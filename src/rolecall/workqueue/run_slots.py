"""Which keys in hand have a slot: what entitles their runs to compute.

Promises: never more than `max_runs` have one, nor more of a kind than its limit; a key has one from the
beginning of its turn. A run that waits leaves it to others, up to `max_waiting` such runs: above that
they keep theirs, since each of them holds memory. One that wakes stands in line until a slot is free.

The hard part is who goes first. Runs that wake go before keys that begin, for they hold memory and are
waited for; but a hundred that wake every second would let no key begin, so after `MAX_WOKEN` of them a
key has its turn. Nothing can lock up: a run that stands in line holds no slot, and a run that has one
ends or waits.

A kind's limit that the user set counts all its keys in hand, as in the Go operator: who says 1 may mean
that no two runs of that kind are ever under way. The default, one for each CPU, is about CPUs alone, so
it counts those that have a slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from rolecall.gvk import Gvk
from rolecall.workqueue.key import Key

# One slot in four for keys that begin, as long as there are any.
MAX_WOKEN = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """How many keys may be in hand at once."""

    max_runs: int
    per_kind: Mapping[Gvk, int]
    # What their runs may take of memory together, and what one of a kind would take if it began now.
    # The next key waits until there is as much; one alone always has room.
    memory_bytes: int | None = None
    run_bytes: Callable[[Gvk], int] = lambda _: 0
    max_waiting: int = 0  # runs in flight that wait and have left their slot to others
    # Kinds whose limit the user set.
    set_kinds: AbstractSet[Gvk] = field(default_factory=frozenset)


class RunSlots:
    """Everything happens on one event loop; called by `Queue`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.in_hand: Counter[Gvk] = Counter()
        self._all = 0  # keys in hand
        self._left: dict[Key, None] = {}  # their runs wait, and others have their slots
        self._left_of: Counter[Gvk] = Counter()
        self._keeping: dict[Key, None] = {}  # their runs wait, but too many do already
        # Those of `_left` whose runs are awake, in line, with the function to call.
        self._woken: dict[Key, Callable[[], None]] = {}
        self._woken_in_a_row = 0

    @property
    def waiting(self) -> Mapping[Gvk, int]:
        """How many runs of each kind have left their slots."""
        return dict(self._left_of)

    @property
    def is_free(self) -> bool:
        return self._all - len(self._left) < self._limits.max_runs

    def has_room(self, gvk: Gvk) -> bool:
        """Whether one more key of a kind may be in hand."""
        counted = self.in_hand[gvk]
        if gvk not in self._limits.set_kinds:
            counted -= self._left_of[gvk]
        return counted < max(1, self._limits.per_kind.get(gvk, 1))

    def take(self, key: Key) -> None:
        """A key comes into hand, with a slot."""
        self._all += 1
        self.in_hand[key.gvk] += 1
        self._woken_in_a_row = 0

    def put_down(self, key: Key) -> None:
        """Its turn is over, whether its run waited or not."""
        self._all -= 1
        self.in_hand[key.gvk] -= 1
        self._stay(key)

    def leave(self, key: Key) -> None:
        """The run of a key in hand waits."""
        self._woken.pop(key, None)
        if key not in self._left:
            self._keeping[key] = None
            self._let_go()

    def want(self, key: Key, on_given: Callable[[], None]) -> None:
        """The run of a key in hand is awake."""
        if key in self._left:
            self._woken[key] = on_given
        else:
            self._keeping.pop(key, None)
            on_given()

    @property
    def woken_go_first(self) -> bool:
        return self._woken_in_a_row < MAX_WOKEN

    def give_to_woken(self) -> bool:
        """Give a free slot to the run that is in line for longest; False where none may have it."""
        for key, on_given in self._woken.items():
            if key.gvk in self._limits.set_kinds or self.has_room(key.gvk):
                self._stay(key)
                self._woken_in_a_row += 1
                on_given()
                return True
        return False

    def _stay(self, key: Key) -> None:
        """It no longer waits."""
        self._keeping.pop(key, None)
        self._woken.pop(key, None)
        if key in self._left:
            del self._left[key]
            self._left_of[key.gvk] -= 1
            self._let_go()

    def _let_go(self) -> None:
        """Let runs that wait leave their slots, as many as may."""
        while self._keeping and len(self._left) < self._limits.max_waiting:
            key = next(iter(self._keeping))
            del self._keeping[key]
            self._left[key] = None
            self._left_of[key.gvk] += 1
