"""One random history of three CRs of one role, and the truth that pruning is held against.

Two of the CRs are of a watch that prunes, the third of one that does not. Between any two steps the
engine may be killed, the spec edited, the role upgraded, an object deleted, made anew or taken over by
a person, and the world changed. `Truth` knows what each task of each run wanted, without any record.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from rolecall.extensions.prune import InventoryStore, Prune, PrunePorts, Pruner
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ConflictError, ForbiddenError, Target, UnavailableError
from rolecall.reconcile import RunFindings
from rolecall.record import ObjectId, RunRecord, TaskId
from rolecall.runner import Ending, RunResult
from rolecall.watches import Watch
from rolecall.workqueue import Key
from tests.fixtures.findings import findings_of
from tests.unit.extensions.prune.histories.api import (
    CLAIM,
    CONFIG_MAP,
    DEPLOYMENT,
    HEAP,
    HOME,
    SHELF,
    SOURCE,
    THING,
    Abort,
    Api,
    Place,
)
from tests.unit.extensions.prune.histories.plays import HELM, ITEMS, Play, Step, World
from tests.unit.extensions.prune.worlds import watch

NAMES = ("one", "two", "heap")
_KEPT = {"rolecall.dev/prune": "false"}
_KINDS = (CONFIG_MAP, CONFIG_MAP, DEPLOYMENT, THING, CLAIM)
_STEPS = {"ensure": 5, "included": 1, "create": 2, "tool": 1, "generate": 1, "mirror": 2}
_STEPS |= {"toggle": 1, "read": 1, "ask": 1}


@dataclass
class Claimed:
    """An object as a CR wants it: by which tasks, or for how many good runs in a row by none."""

    tasks: set[TaskId] = field(default_factory=set)
    unwanted: int = 0


@dataclass(frozen=True)
class Run:
    key: Key
    watch: Watch
    cr: Json
    result: RunResult
    record: RunRecord
    is_finalizer: bool = False

    @property
    def findings(self) -> RunFindings:
        return findings_of(self.record)


class Truth:
    """Of one CR."""

    def __init__(self) -> None:
        self.claims: dict[Place, Claimed] = {}
        self.known: set[Place] = set()  # that the engine must have kept

    def observe(self, play: Play) -> None:
        """A run is over, and the engine knows of it."""
        is_good = play.is_whole and not play.has_failed
        for place, tasks in play.wanted.items():
            claim = self.claims.setdefault(place, Claimed())
            claim.tasks = tasks | {
                each for each in claim.tasks if not (is_good and play.ended.get(each))
            }
            claim.unwanted = 0
        for place, claim in self.claims.items():
            if place not in play.wanted:
                is_released = is_good and all(play.ended.get(each) for each in claim.tasks)
                claim.unwanted = claim.unwanted + 1 if is_released else 0

    def forget_last(self, before: dict[Place, Claimed]) -> None:
        """The engine may have died before it kept anything of the last run."""
        for place, claim in self.claims.items():
            if place in before:
                before[place].unwanted = max(before[place].unwanted, claim.unwanted)
        self.claims = before


class History:
    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.prune = Prune(
            kinds=frozenset({THING.gvk}),
            good_runs=chance.choice([1, 2, 2, 3]),
            limit_percent=chance.choice([100, 100, 30]),
        )
        self.api, self.world = Api(on_delete=self._on_delete), World()
        self.role = [self._new_step(number) for number in range(chance.randrange(3, 7))]
        self.steps = len(self.role)
        self.crs = {name: self._new_cr(name) for name in NAMES}
        self.truths = {name: Truth() for name in NAMES}
        self.playing: dict[str, Play] = {}
        self.settling = ""
        self.by_hand: set[Place] = set()
        self.log: list[str] = []
        self.pruned = 0
        self._deleted: list[Place] = []
        for item in chance.sample(ITEMS, 2):
            self.api.put(Place(SOURCE, HOME, item))
        self._restart()

    # What happens.

    async def live(self, steps: int) -> None:
        acts: list[tuple[int, Callable[[], None]]] = [
            (4, self._edit),
            (2, self._change_world),
            (2, self._lend_a_hand),
            (1, self._upgrade),
            (1, self._restart),
            (1, self._make_cr_anew),
        ]
        for _ in range(steps):
            if self.chance.random() < 0.6:
                name, often = self.chance.choice(NAMES), self.chance.choice([1, 1, 2, 4])
                for _ in range(often):
                    await self._run(name)
            else:
                (act,) = self.chance.choices([a for _, a in acts], [weight for weight, _ in acts])
                act()

    async def rest(self) -> list[str]:
        """Good runs in a good world; returns what is left, though nothing wants it."""
        self.world.ready, self.world.fault_rate = {"x", "y"}, 0.0
        self.world.discovery_is_down = False
        for _ in range(self.prune.good_runs + 3):
            for name in NAMES:
                await self._run(name, is_good=True)
        return [str(place) for place in self.api.objects if self._is_left_over(place)]

    async def _run(self, name: str, *, is_good: bool = False, is_inner: bool = False) -> None:
        if name in self.playing:
            return
        fates = (
            ["finish"] if is_good else ["finish"] * 6 + ["fail", "kill", "abort", "end", "again"]
        )
        fate = self.chance.choice(fates)
        play = Play(self.api, self.crs[name], self.role, self.world, self.chance)
        tasks, self.playing[name] = play.tasks(), play
        stops_at = len(tasks) if fate in ("finish", "again") else self.chance.randrange(len(tasks))
        self.log.append(f"run {name}: {fate} at {stops_at}, {play.cr['spec']}")
        for task in tasks[:stops_at]:
            task()
            if play.has_failed:
                break
            if not (is_good or is_inner) and self.chance.random() < 0.08:
                await self._run(self.chance.choice(NAMES), is_inner=True)
                if self.playing.get(name) is not play:
                    return  # the engine was killed meanwhile
        del self.playing[name]
        if fate == "abort":
            self._restart()
            return
        if fate == "fail":
            play.fail()
        if fate == "end" and not play.has_failed:
            play.end_early()
        ending = Ending.KILLED if fate == "kill" else Ending.FINISHED
        result = play.result(ending, requeues=fate == "again")
        if not is_good and self.chance.random() < 0.1:
            self._edit_of(name)
        await self._settle(name, play, result, is_good=is_good)

    async def _settle(self, name: str, play: Play, result: RunResult, *, is_good: bool) -> None:
        truth = self.truths[name]
        before = copy.deepcopy(truth.claims)
        truth.observe(play)
        has_lost = False

        def fault(verb: str, gvk: Gvk) -> BaseException | None:
            nonlocal has_lost
            if is_good or self.chance.random() > 0.06:
                return None
            failures: list[BaseException] = [UnavailableError("down"), Abort()]
            if verb == "delete":
                target = Target("delete")
                failures += [
                    ForbiddenError("no", code=403, target=target),
                    ConflictError("changed", code=409, target=target),
                ]
            failure = self.chance.choice(failures)
            has_lost = has_lost or verb != "delete" or isinstance(failure, Abort)
            self.log.append(f"  {type(failure).__name__} at {verb} {gvk.kind}")
            return failure

        self.api.fault, self.settling, self._deleted = fault, name, []
        owned = len(truth.claims)
        try:
            await self._pruner.run_ended(self._ended(name, play, result))
        except Abort:
            self._restart()
        finally:
            self.api.fault, self.settling = lambda *_: None, ""
        if has_lost:
            truth.forget_last(before)
        else:
            truth.known |= play.seen
        if self.prune.limit_percent == 30:
            assert len(self._deleted) <= max(3, owned * 30 // 100), self._deleted
        for place in self._deleted:
            truth.claims.pop(place, None)

    def _ended(self, name: str, play: Play, result: RunResult) -> Run:
        prune = None if name == "heap" else self._prune_now()
        return Run(self.key(name), watch(prune), play.cr, result, play.notes.record())

    def _prune_now(self) -> Prune:
        return replace(
            self.prune, tasks=frozenset(each.name for each in self.role if each.is_listed)
        )

    def key(self, name: str) -> Key:
        return Key(_cr_place(name).kind.gvk, HOME, name)

    # What people and the world do.

    def _restart(self) -> None:
        ports = PrunePorts(SimpleNamespace(record=lambda *_, **__: None), in_flight=self._in_flight)
        client = cast(Client, self.api)
        self._pruner = Pruner(client, InventoryStore(client, "operator"), ports)
        self.playing.clear()

    def _in_flight(self, key: Key, wanted: ObjectId) -> Key | None:
        found = (
            name
            for name, play in self.playing.items()
            if name != key.name and play.notes.has_touched(*wanted)
        )
        name = next(found, None)
        return None if name is None else self.key(name)

    def _edit(self) -> None:
        self._edit_of(self.chance.choice(NAMES))

    def _edit_of(self, name: str) -> None:
        cr = copy.deepcopy(self.crs[name])
        step = self.chance.choice(self.role)
        cr["spec"] |= self._wishes(step)
        cr["metadata"]["generation"] += 1
        self._put_cr(name, cr)
        self.log.append(f"edit {name}: {cr['spec']}")

    def _change_world(self) -> None:
        world, chance = self.world, self.chance
        world.ready = set(chance.sample("xy", chance.choice([0, 1, 2, 2])))
        world.discovery_is_down = chance.random() < 0.4
        world.fault_rate = chance.choice([0.0, 0.0, 0.03, 0.2])
        source = Place(SOURCE, HOME, chance.choice(ITEMS))
        if chance.random() < 0.5:
            self.api.put(source)
        else:
            self.api.objects.pop(source, None)
        self.log.append(f"world: {world.ready}, {world.fault_rate}, {world.discovery_is_down}")

    def _lend_a_hand(self) -> None:
        ours = [place for place in self.api.objects if place.kind not in (SHELF, HEAP, SOURCE)]
        ours = [place for place in ours if place.namespace == HOME]
        if not ours:
            return
        place = self.chance.choice(ours)
        metadata = self.api.objects[place]["metadata"]
        what = self.chance.choice(["delete", "anew", "take", "annotate", "share"])
        self.by_hand.add(place)
        self.log.append(f"{what} {place}")
        match what:
            case "delete":
                del self.api.objects[place]
            case "anew":
                del self.api.objects[place]
                self.api.put(place, ownerReferences=metadata.get("ownerReferences"))
            case "take":
                self.api.put(place, ownerReferences=[])
            case "annotate":
                self.api.put(place, annotations=dict(_KEPT))
            case "share":
                owner = {"name": "two", "uid": self.crs["two"]["metadata"]["uid"]}
                others = metadata.get("ownerReferences") or []
                self.api.put(place, ownerReferences=[*others, owner])

    def _upgrade(self) -> None:
        """The role: a task is renamed, goes or comes; engines load it when they start."""
        at = self.chance.randrange(len(self.role))
        step = self.role[at]
        match self.chance.choice(["rename", "drop", "add"]):
            case "rename":
                self.role[at] = replace(step, name=f"{step.name}'")
            case "drop" if len(self.role) > 2:
                del self.role[at]
            case _:
                self.role.append(self._new_step(self.steps))
                for name, cr in self.crs.items():
                    self._put_cr(
                        name, {**cr, "spec": {**cr["spec"], **self._wishes(self.role[-1])}}
                    )
                self.steps += 1
        self.log.append(f"role: {self.role}")
        self._restart()

    def _make_cr_anew(self) -> None:
        """Deleted with all that it owns, and made once more."""
        name = self.chance.choice(NAMES)
        uid = self.crs[name]["metadata"]["uid"]
        for place, found in list(self.api.objects.items()):
            owners = found["metadata"].get("ownerReferences") or []
            left = [row for row in owners if row["uid"] != uid]
            if owners and not left:
                del self.api.objects[place]
            elif owners != left:
                self.api.put(place, ownerReferences=left)
        del self.api.objects[_cr_place(name)]
        self.crs[name], self.truths[name] = self._new_cr(name), Truth()
        self.log.append(f"anew {name}")

    # What is made by chance.

    def _new_step(self, number: int) -> Step:
        chance = self.chance
        (what,) = chance.choices(list(_STEPS), list(_STEPS.values()))
        prefix = chance.choice(["own", "own", "common", "shared"])
        return Step(
            what,
            number,
            chance.choice(_KINDS) if what in ("ensure", "included", "create") else CONFIG_MAP,
            prefix if what in ("ensure", "create", "read") else "own",
            f"step {number}",
            chance.choice(["", "", "", "x"]) if what == "ensure" else "y" * (what == "included"),
            chance.choice(["", "", "y"]),
            is_listed=what == "create" and chance.random() < 0.8,
        )

    def _new_cr(self, name: str) -> Json:
        spec: Json = {}
        for step in self.role:
            spec |= self._wishes(step)
        metadata = self.api.put(_cr_place(name), generation=1)["metadata"]
        return self._put_cr(name, {"metadata": metadata, "spec": spec})

    def _wishes(self, step: Step) -> Json:
        items = self.chance.sample(ITEMS, self.chance.randrange(len(ITEMS) + 1))
        return {step.key: sorted(items), step.flag: self.chance.random() < 0.5}

    def _put_cr(self, name: str, cr: Json) -> Json:
        if hasattr(self, "crs"):
            self.crs[name] = cr
        self.api.objects[_cr_place(name)] = cr
        return cr

    # What must hold.

    def _on_delete(self, place: Place, found: Json) -> None:
        """The engine deletes an object; it must be one that nothing wants."""
        name, metadata = self.settling, found["metadata"]
        self._deleted.append(place)
        self.pruned += 1
        self.log.append(f"  pruned {place}")
        owners = [row["uid"] for row in metadata.get("ownerReferences") or []]
        assert {*owners} == {self.crs[name]["metadata"]["uid"]}, "it is not ours alone"
        assert metadata.get("annotations") != _KEPT, "it is annotated"
        assert place.kind != CLAIM, "its kind is not named"
        assert place not in self.fresh(name), "a new CR with this spec would make it"
        for other, truth in self.truths.items():
            claim = truth.claims.get(place)
            enough = self.prune.good_runs if other == name else 1
            assert claim is None or claim.unwanted >= enough, f"{other} may want it: {claim}"
        for other, play in self.playing.items():
            assert other == name or place not in play.wanted, f"the run of {other} wants it"

    def fresh(self, name: str) -> set[Place]:
        """What a new CR with this spec would make in a good world."""
        spec = self.crs[name]["spec"]
        play = Play(self.api, self.crs[name], self.role, self.world, self.chance)
        made = set()
        for step in self.role:
            match step.what:
                case "ensure" | "included" | "create" | "tool":
                    made |= {play.place(step, item) for item in spec[step.key]}
                case "mirror":
                    sources = self.api.listed(SOURCE, "")
                    made |= {play.place(step, each["metadata"]["name"]) for each in sources}
                case "toggle" if spec[step.flag]:
                    made.add(play.place(step, "it"))
                case "generate":
                    shown = self.api.listed(step.kind, f"{name}-{step.number}")
                    made |= {Place(step.kind, HOME, each["metadata"]["name"]) for each in shown}
        return made

    def _is_left_over(self, place: Place) -> bool:
        """Whether it should be gone after some good runs: what ours alone owns, and nothing wants."""
        if place.namespace != HOME or place in self.by_hand or self.prune.limit_percent < 100:
            return False
        owners = [
            row["uid"] for row in self.api.objects[place]["metadata"].get("ownerReferences", ())
        ]
        name = next((each for each in NAMES if owners == [self.crs[each]["metadata"]["uid"]]), "")
        claim = self.truths[name].claims.get(place) if name not in ("", "heap") else None
        if claim is None or place not in self.truths[name].known or place.kind == CLAIM:
            return False
        if any(place in self.fresh(each) for each in NAMES):
            return False
        claims = [(each, truth.claims.get(place)) for each, truth in self.truths.items()]
        if not all(self._all_may_be_judged(each, found) for each, found in claims if found):
            return False
        return claim.unwanted > 0 and place not in self._read_by(name)

    def _all_may_be_judged(self, name: str, claim: Claimed) -> bool:
        """Whether each task that wanted it is still there, and says in each run what it wants."""
        declared = {
            step.name for step in self.role if step.what in ("ensure", "included", "mirror")
        }
        if name != "heap":
            declared |= {step.name for step in self.role if step.is_listed}
        return all(each.name in declared and each.action != HELM for each in claim.tasks)

    def _read_by(self, name: str) -> set[Place]:
        play = Play(self.api, self.crs[name], self.role, self.world, self.chance)
        reads = (step for step in self.role if step.what == "read")
        return {play.place(step, item) for step in reads for item in play.cr["spec"][step.key]}


def _cr_place(name: str) -> Place:
    return Place(HEAP if name == "heap" else SHELF, HOME, name)


def reported(history: History, what: Any) -> str:
    return "\n".join([*history.log, str(what)])
