"""Random histories, each lived twice: by a CR whose runs may be skipped, and by one whose are made.

One engine serves both kinds with the same role. A history is a CR of each kind and whatever its role
reads; many go on side by side, and share the project's files and the engine's restarts. What shall
come of a history is computed here as well, so that two worlds which are stale alike are not taken for
the same.
"""

from __future__ import annotations

import base64
import contextlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.e2e.skipping import SECRET
from tests.fixtures.eventually import eventually_async

SKIPPED = Gvk("histories.rolecall.dev", "v1", "Skipped")
MADE = Gvk("histories.rolecall.dev", "v1", "Made")
KINDS = (SKIPPED, MADE)
NOTHING = "missing"
_ITEMS = ("a", "b", "c")
_NAME = "{{ ansible_operator_meta.name }}"
_PLACE = {"namespace": "{{ ansible_operator_meta.namespace }}"}


def _info(kind: str, register: str, **more: object) -> Json:
    return {"kubernetes.core.k8s_info": {"kind": kind, **_PLACE, **more}, "register": register}


def _tasks(words: str) -> list[Json]:
    """The role: it writes down all that it read."""
    first = "(%s.resources | first).data.key if %s.resources else 'missing'"
    data = {
        "words": words,
        "text": "{{ lookup('template', 'text.j2') }}",
        "size": "{{ size | string }}",
        "tier": "{{ lookup('vars', cr).metadata.labels.tier | default('missing') }}",
        "secret": "{{ " + first % ("secret", "secret") + " }}",
        "config": "{{ " + first % ("config", "config") + " }}",
        "items": "{{ items.resources | map(attribute='metadata.labels.item') | sort | join(',') }}",
    }
    metadata = {"name": f"{_NAME}-out", **_PLACE}
    out = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return [
        _info("Secret", "secret", name=f"{_NAME}-secret"),
        _info("ConfigMap", "config", name=f"{_NAME}-config"),
        _info("ConfigMap", "items", label_selectors=[f"for={_NAME}"]),
        {"kubernetes.core.k8s": {"definition": out}},
    ]


class SharedProject:
    """One role, and a watch of each kind for it."""

    def __init__(self, folder: Path, periods: tuple[str, str] = ("1s", "5s"), **more: str) -> None:
        self.folder, self.words, self.text = folder, "first", "first"
        self._role = folder / "roles" / "shows"
        for name in ("tasks", "templates"):
            (self._role / name).mkdir(parents=True)
        self.write()
        skipped, made = periods
        watches = [_watch(SKIPPED, skipped, skipUnchanged=True, **more), _watch(MADE, made)]
        (folder / "watches.yaml").write_text(yaml.safe_dump(watches))

    def write(self) -> None:
        """As an editor does: a new file in the place of the old one."""
        tasks, text = self._role / "tasks" / "main.yml", self._role / "templates" / "text.j2"
        for path, content in ((tasks, yaml.safe_dump(_tasks(self.words))), (text, self.text)):
            fresh = path.with_name(f".{path.name}")
            fresh.write_text(content)
            fresh.replace(path)

    def edit(self, chance: random.Random) -> None:
        """Change the template, or the tasks."""
        word = f"word-{chance.randrange(1000)}"
        if chance.random() < 0.5:
            self.words = word
        else:
            self.text = word
        self.write()


def _watch(gvk: Gvk, period: str, **more: object) -> Json:
    names = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind, "role": "shows"}
    variables = {"cr": f"_histories_rolecall_dev_{gvk.kind.lower()}"}
    return {**names, "reconcilePeriod": period, "vars": variables, **more}


@dataclass
class Inputs:
    """What a history's CR and its surroundings say now."""

    size: int = 1
    tier: str = NOTHING
    secret: str = NOTHING
    config: str = NOTHING
    items: set[str] = field(default_factory=set)


class SkipHistory:
    """A CR of each kind, edited alike."""

    def __init__(self, api: Client, namespace: str, seed: int) -> None:
        self._api, self._namespace = api, namespace
        self.seed, self.reported = seed, [f"seed {seed}"]
        self._chance = random.Random(seed)
        self._now = Inputs()

    async def begin(self) -> None:
        """Make both CRs."""
        for gvk in KINDS:
            await self._api.create(gvk, cr(gvk, self._namespace, self._name(gvk), size=1))

    async def edit(self) -> None:
        """One random change, on both sides."""
        reads = [self._secret, self._config, self._item, self._item]
        changes = [self._size, self._tier, *reads, self._foreign, self._nothing]
        change: Callable[[], Awaitable[object]] = self._chance.choice(changes)
        self.reported.append(change.__name__)
        await change()

    def expected(self, project: SharedProject) -> Json:
        """What the role writes for these inputs."""
        now = self._now
        return {
            "words": project.words,
            "text": project.text,
            "size": str(now.size),
            "tier": now.tier,
            "secret": base64.b64encode(now.secret.encode()).decode()
            if now.secret != NOTHING
            else NOTHING,
            "config": now.config,
            "items": ",".join(sorted(now.items)),
        }

    async def worlds(self) -> list[Json]:
        """What there is: of the kind that may be skipped, and of the other."""
        return [await self._world(gvk) for gvk in KINDS]

    async def _world(self, gvk: Gvk) -> Json:
        try:
            found = await self._api.get(CONFIG_MAP, self._namespace, f"{self._name(gvk)}-out")
        except NotFoundError:
            return {}
        return dict(found.get("data") or {})

    def _name(self, gvk: Gvk) -> str:
        return f"{gvk.kind.lower()}-{self.seed}"

    async def _size(self) -> None:
        self._now.size = self._chance.randrange(2, 1000)
        for gvk in KINDS:
            await self._patch(gvk, self._name(gvk), {"spec": {"size": self._now.size}})

    async def _tier(self) -> None:
        self._now.tier = self._value()
        tier = None if self._now.tier == NOTHING else self._now.tier
        for gvk in KINDS:
            await self._patch(gvk, self._name(gvk), {"metadata": {"labels": {"tier": tier}}})

    async def _secret(self) -> None:
        self._now.secret = self._value()
        await self._keep(SECRET, "secret", self._now.secret, "stringData")

    async def _config(self) -> None:
        self._now.config = self._value()
        await self._keep(CONFIG_MAP, "config", self._now.config, "data")

    async def _item(self) -> None:
        """One more in the list, or one less."""
        item = self._chance.choice(_ITEMS)
        self._now.items ^= {item}
        for gvk in KINDS:
            name = f"{self._name(gvk)}-{item}"
            if item in self._now.items:
                labels = {"for": self._name(gvk), "item": item}
                await self._create(CONFIG_MAP, name, {}, labels)
            else:
                await self._api.delete(CONFIG_MAP, self._namespace, name)

    async def _foreign(self) -> None:
        """Another client changes or deletes what the role wrote."""
        is_gone = self._chance.random() < 0.3
        for gvk in KINDS:
            name = f"{self._name(gvk)}-out"
            with contextlib.suppress(NotFoundError):  # the role did not come to it yet
                if is_gone:
                    await self._api.delete(CONFIG_MAP, self._namespace, name)
                else:
                    await self._patch(CONFIG_MAP, name, {"data": {"size": "foreign"}})

    async def _nothing(self) -> None:
        """A period passes."""

    async def _keep(self, kind: Gvk, suffix: str, value: str, key: str) -> None:
        for gvk in KINDS:
            name = f"{self._name(gvk)}-{suffix}"
            with contextlib.suppress(NotFoundError):
                if value == NOTHING:
                    await self._api.delete(kind, self._namespace, name)
                else:
                    await self._patch(kind, name, {key: {"key": value}})
                continue
            if value != NOTHING:
                await self._create(kind, name, {key: {"key": value}}, {})

    async def _create(self, kind: Gvk, name: str, more: Json, labels: Json) -> None:
        metadata = {"name": name, "namespace": self._namespace, "labels": labels}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        await self._api.create(kind, {**body, **more})

    async def _patch(self, kind: Gvk, name: str, patch: Json) -> None:
        await self._api.merge_patch(kind, self._namespace, name, patch)

    def _value(self) -> str:
        return self._chance.choice([NOTHING, f"value-{self._chance.randrange(1000)}"])


async def wait_until_right(histories: list[SkipHistory], project: SharedProject) -> None:
    """Wait for both worlds of each history to be what its inputs want."""

    async def wrong() -> list[object]:
        found: list[object] = []
        for history in histories:
            expected = history.expected(project)
            for gvk, world in zip(KINDS, await history.worlds(), strict=True):
                if world != expected:
                    found.append((gvk.kind, history.reported, world, expected))
        return found

    await eventually_async(wrong, lambda found: not found)
