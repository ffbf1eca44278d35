"""The dice: what befalls replicas, one thing every few seconds, while CRs are edited.

The same seed makes the same throws; the world answers at its own pace, so who is there to be hit may
differ. At least one replica is left alone at any time: there always is one that could work.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.kinds import cr, kind
from tests.e2e.shards.replicas import ELECTION, LEASE_S, SHARDS, Player

ROLLED = kind("Rolled")
LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
_EDITS_EVERY_S = 1.2  # on two busy cores more would wait for a slot, and show nothing of shards
_GROWN_BY = 2


@dataclass
class Throw:
    """What was done, to whom, and from when until when."""

    what: str
    whom: str
    began: float
    ended: float = 0.0

    @property
    def takes_shards(self) -> bool:
        """Whether the replica must be followed: it died, or was away for longer than a lease."""
        is_away = self.what in {"freeze_engine", "freeze_machine", "refuse", "hang"}
        return self.what == "kill" or (is_away and self.ended - self.began > LEASE_S)


@dataclass
class Game:
    cluster: Cluster
    api: Client
    namespace: str
    folder: Path
    rng: random.Random
    wanted: int
    names: list[str]
    players: list[Player] = field(default_factory=list)
    throws: list[Throw] = field(default_factory=list)
    edits: list[tuple[str, int, float]] = field(default_factory=list)
    all_players: list[Player] = field(default_factory=list)
    _going_on: set[asyncio.Task[None]] = field(default_factory=set)

    async def begin(self) -> None:
        """Replicas and CRs."""
        for _ in range(self.wanted):
            await self.start()
        for name in self.names:
            spec = {
                "note": 0,
                "takes": f"{self.rng.uniform(0.1, 1.0):.1f}",
                "folder": str(self.folder),
            }
            await self.api.create(ROLLED, cr(ROLLED, self.namespace, name, **spec))

    async def start(self) -> None:
        """One replica more."""
        name = f"replica-{len(self.all_players)}"
        scratch = self.folder.parent
        player = await asyncio.to_thread(Player, self.cluster, self.namespace, scratch, name)
        self.players.append(player)
        self.all_players.append(player)

    async def play(self, for_s: float) -> None:
        """Throw, until the time is over and all replicas are back."""
        end = time.monotonic() + for_s
        editing = asyncio.create_task(self._edit(end))
        while time.monotonic() < end:
            await asyncio.sleep(self.rng.uniform(3, 8))
            await self._throw()
        await editing
        await asyncio.gather(*self._going_on)

    async def _edit(self, end: float) -> None:
        notes = dict.fromkeys(self.names, 0)
        rng = random.Random(self.rng.random())
        while time.monotonic() < end:
            name = rng.choice(self.names)
            notes[name] += 1
            patch = {"spec": {"note": notes[name]}}
            self.edits.append((name, notes[name], time.time()))
            await self.api.merge_patch(ROLLED, self.namespace, name, patch)
            await asyncio.sleep(_EDITS_EVERY_S)

    async def _throw(self) -> None:
        ways: list[Callable[[Player], Awaitable[None]]] = [
            self.kill,
            self.freeze_engine,
            self.freeze_machine,
            self.drop,
            self.refuse,
            self.hang,
            self.scale_out,
            self.scale_in,
            self.roll,
            self.delete_shard_lease,
            self.edit_shard_lease,
            self.delete_member_lease,
        ]
        way, luck = self.rng.choice(ways), self.rng.random()
        whole = [player for player in self.players if not player.is_disturbed]
        if len(whole) < 2:
            print(f"{_now()} nothing: one replica alone is whole", flush=True)
            return
        player = whole[int(luck * len(whole))]
        throw = Throw(way.__name__, player.name, time.time())
        self.throws.append(throw)
        print(f"{_now()} {throw.what} {throw.whom}", flush=True)
        player.is_disturbed = True

        async def done() -> None:
            await way(player)
            throw.ended = time.time()
            player.is_disturbed = False
            print(f"{_now()} {throw.what} {throw.whom}: over", flush=True)

        task = asyncio.create_task(done())
        self._going_on.add(task)

    async def kill(self, player: Player) -> None:
        player.engine.process.kill()
        self.players.remove(player)
        await asyncio.sleep(1)
        await self.start()

    async def freeze_engine(self, player: Player) -> None:
        await self._frozen(player, whole=False)

    async def freeze_machine(self, player: Player) -> None:
        await self._frozen(player, whole=True)

    async def _frozen(self, player: Player, *, whole: bool) -> None:
        player.freeze(whole=whole)
        await asyncio.sleep(self.rng.choice([1.0, LEASE_S - 1, LEASE_S + 4]))
        player.thaw()

    async def drop(self, player: Player) -> None:
        await asyncio.to_thread(player.line.cut)

    async def refuse(self, player: Player) -> None:
        await asyncio.to_thread(player.line.refuse)
        await asyncio.sleep(self.rng.choice([2.0, LEASE_S + 4]))
        await asyncio.to_thread(player.line.accept)

    async def hang(self, player: Player) -> None:
        player.line.hold()
        await asyncio.sleep(self.rng.choice([2.0, LEASE_S + 4]))
        player.line.release()

    async def scale_out(self, _: Player) -> None:
        if len(self.players) < self.wanted + _GROWN_BY:
            await self.start()

    async def scale_in(self, player: Player) -> None:
        if len(self.players) >= self.wanted:
            await self._stop(player)

    async def roll(self, player: Player) -> None:
        await self.start()
        await self._stop(player)

    async def _stop(self, player: Player) -> None:
        self.players.remove(player)
        player.engine.send(signal.SIGTERM)
        await asyncio.to_thread(player.engine.wait)

    async def delete_shard_lease(self, _: Player) -> None:
        with contextlib.suppress(ClusterError):
            await self.api.delete(LEASE, self.namespace, self._shard_lease())

    async def edit_shard_lease(self, _: Player) -> None:
        patch = {"spec": {"holderIdentity": "another_replica"}}
        with contextlib.suppress(ClusterError):
            await self.api.merge_patch(LEASE, self.namespace, self._shard_lease(), patch)

    async def delete_member_lease(self, _: Player) -> None:
        leases = await self.api.list_all(LEASE, self.namespace)
        names = [each["metadata"]["name"] for each in leases]
        members = sorted(name for name in names if name.startswith(f"{ELECTION}-member-"))
        with contextlib.suppress(ClusterError):
            await self.api.delete(LEASE, self.namespace, self.rng.choice(members))

    def _shard_lease(self) -> str:
        return f"{ELECTION}-shard-{self.rng.randrange(SHARDS):02}"


def _now() -> str:
    return time.strftime("%H:%M:%S")
