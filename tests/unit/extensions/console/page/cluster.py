"""A cluster as the page sees it: who holds which token, who may do what, and some objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, NotFoundError, Page, Target

# Verb, resource with its subresource, namespace; `*` as namespace: everywhere.
Rule = tuple[str, str, str]


@dataclass
class FakeCluster:
    users: dict[str, Json] = field(default_factory=dict)  # by token
    rules: dict[str, set[Rule]] = field(default_factory=dict)  # by name of the user
    objects: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    is_silent: bool = False
    asked: Counter[str] = field(default_factory=Counter)  # kinds of reviews
    patches: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)  # tokens of clients

    def knows(self, user: str, *rules: Rule, token: str = "") -> None:
        """A user with a token, which is called after the user where none is given."""
        self.users[token or f"token-of-{user}"] = {"username": user, "uid": f"uid-{user}"}
        self.rules.setdefault(user, set()).update(rules)

    def allows(self, user: str, verb: str, resource: str, namespace: str) -> bool:
        rules = self.rules.get(user, set())
        return (verb, resource, "*") in rules or (
            bool(namespace) and (verb, resource, namespace) in rules
        )

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        self.asked[gvk.kind] += 1
        if self.is_silent:
            raise ClusterError("it does not answer")
        spec = body["spec"]
        if gvk.kind == "TokenReview":
            user = self.users.get(spec["token"])
            return {"status": {"authenticated": user is not None, "user": user}}
        wanted = spec["resourceAttributes"]
        resource = "/".join(filter(None, (wanted["resource"], wanted.get("subresource"))))
        namespace = wanted.get("namespace", "")
        scopes = spec["extra"].get("scopes")
        may = self.allows(spec["user"], wanted["verb"], resource, namespace)
        return {"status": {"allowed": may and (scopes is None or wanted["verb"] in scopes)}}


class FakeClient:
    """Reads and writes as the holder of a token; without one, as the engine, which may do all."""

    def __init__(self, cluster: FakeCluster, token: str = "") -> None:
        self._cluster, self._token = cluster, token

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        return await self._cluster.create(gvk, body)

    async def close(self) -> None:
        self._cluster.closed.append(self._token)

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        self._check("get", gvk, namespace)
        found = self._cluster.objects.get((gvk.kind, namespace, name))
        if found is None:
            raise NotFoundError("not found", target=Target("get"))
        return found

    async def merge_patch(
        self, gvk: Gvk, namespace: str, name: str, patch: Mapping[str, Any]
    ) -> Json:
        self._check("patch", gvk, namespace)
        self._cluster.patches.append((f"{namespace}/{name}", patch))
        return {}

    async def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]:
        assert metadata_only
        self._check("list", gvk, namespace)
        items = [
            each
            for (kind, place, _), each in self._cluster.objects.items()
            if kind == gvk.kind and namespace in ("", place)
            if has_labels(each["metadata"].get("labels", {}), label_selector)
        ]
        for item in items:
            yield Page([item], "1", "")

    def _check(self, verb: str, gvk: Gvk, namespace: str) -> None:
        if not self._token:
            return
        user = self._cluster.users.get(self._token, {}).get("username", "")
        if not self._cluster.allows(user, verb, f"{gvk.kind.lower()}s", namespace):
            raise ForbiddenError("forbidden", target=Target(verb))


def has_labels(labels: Mapping[str, str], selector: str) -> bool:
    """`key=value`, `key` and `!key`, with commas between."""

    def has(term: str) -> bool:
        key, mark, value = term.partition("=")
        if mark:
            return labels.get(key) == value
        return key in labels if not key.startswith("!") else key[1:] not in labels

    return all(map(has, selector.split(",")))
