"""The credentials of the runs in flight: who may use the proxy now, and for which CR.

Promise: a credential works from `issue` to `revoke` and at no other time, and by the right of the turn
that issued it; a guess learns nothing from how long the answer took; requests still open when their run
ends are cut, because whatever sends them then outlived the play and must not write in the name of its
CR any longer.

Passwords are looked up by their SHA-256, so neither the lookup nor the comparison leaks a prefix. A
signed token that needs no table was rejected: it could not be revoked.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rolecall.acting import RightToAct, acting_for, current_hand
from rolecall.gvk import Gvk
from rolecall.proxy.following import RunFollower
from rolecall.proxy.identity import (
    Owner,
    decode_identity,
    encode_identity,
    parse_basic_authorization,
)
from rolecall.proxy.refused_rights import RefusedRights
from rolecall.proxy.seen_secrets import SeenSecrets
from rolecall.proxy.worlds import World
from rolecall.watches import Watch

_PASSWORD_BYTES = 24
# CRs whose requests a process made lately; a request keeps its credential while it is open.
_MOST_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, eq=False)
class RunCredential:
    """One run's right to use the proxy."""

    run_id: str
    owner: Owner
    watch: Watch
    user_name: str  # the identity, as it stands in the kubeconfig
    password: str = field(repr=False)
    open_requests: set[asyncio.Task[object]] = field(default_factory=set, repr=False)
    # The documents of the server's kinds that this run got: target and `Accept` of each.
    seen_documents: set[tuple[str, str]] = field(default_factory=set, repr=False)
    refused_rights: RefusedRights = field(default_factory=RefusedRights, repr=False)
    seen_secrets: SeenSecrets = field(default_factory=SeenSecrets, repr=False)
    is_ending: bool = False  # the CR is being deleted
    reads_only: bool = False  # of a play of admission
    # What it wrote and its CR does not own: names for people, by UID.
    unowned: dict[str, str] = field(default_factory=dict, repr=False)
    follower: RunFollower = field(default_factory=RunFollower, repr=False)
    world: World | None = field(default=None, repr=False)  # answers in place of the API server
    # Group and kind of CRs whose conditions it must leave alone.
    conditions_kept: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)
    # The right to act for its CR, by which each of its requests is answered.
    hand: RightToAct | None = field(default_factory=current_hand, repr=False)

    def may_write(self) -> bool:
        """Whether what the run sends now may go on; that it is sent by a live run was asked before."""
        return self.hand is None or self.hand.holds()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Count the current task as one of this run's open requests, made by the run's right."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is served by a task")
        self.open_requests.add(task)
        try:
            with acting_for(self.hand):
                yield
        finally:
            self.open_requests.discard(task)


class ProcessCredential:
    """The right of a process that acts for many CRs, and says for which with each request.

    The user name is the identity of that CR, as in a run's credential; any other stands for none, and
    what is made then has no owner of ours.
    """

    def __init__(self, name: str, watches: Mapping[Gvk, Watch], hand: RightToAct) -> None:
        """With at least one watch; requests for no CR count for the first."""
        self.name = name
        self.user_name = name
        self.password = secrets.token_urlsafe(_PASSWORD_BYTES)
        self._watches, self._hand = watches, hand
        self._conditions_kept = frozenset((gvk.group, gvk.kind) for gvk in watches)
        self._by_user: OrderedDict[str, RunCredential] = OrderedDict()

    def of(self, user_name: str) -> RunCredential:
        """For the CR that is named."""
        credential = self._by_user.get(user_name)
        if credential is None:
            credential = self._by_user[user_name] = self._for(decode_identity(user_name))
            self._forget_oldest()
        else:
            self._by_user.move_to_end(user_name)
        return credential

    @property
    def open_requests(self) -> set[asyncio.Task[object]]:
        """Those of all CRs."""
        return {task for each in self._by_user.values() for task in each.open_requests}

    def _for(self, owner: Owner | None) -> RunCredential:
        watch = self._watches.get(owner.gvk) if owner is not None else None
        if owner is None or watch is None:
            watch = next(iter(self._watches.values()))
            owner = Owner(watch.gvk, "", self.name, "")
        return RunCredential(
            self.name,
            owner,
            watch,
            encode_identity(owner),
            self.password,
            conditions_kept=self._conditions_kept,
            hand=self._hand,
        )

    def _forget_oldest(self) -> None:
        for user_name in list(self._by_user)[: len(self._by_user) - _MOST_REMEMBERED]:
            if not self._by_user[user_name].open_requests:
                del self._by_user[user_name]


class RunCredentials:
    def __init__(self) -> None:
        self._by_digest: dict[bytes, RunCredential | ProcessCredential] = {}

    def issue_to_process(self, credential: ProcessCredential) -> None:
        self._by_digest[_digest_of(credential.password)] = credential

    def issue(  # noqa: PLR0913 - what a credential holds
        self,
        run_id: str,
        owner: Owner,
        watch: Watch,
        *,
        is_ending: bool = False,
        reads_only: bool = False,
        follower: RunFollower | None = None,
        world: World | None = None,
    ) -> RunCredential:
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        credential = RunCredential(
            run_id,
            owner,
            watch,
            encode_identity(owner),
            password,
            is_ending=is_ending,
            reads_only=reads_only,
            follower=follower or RunFollower(),
            world=world,
        )
        self._by_digest[_digest_of(credential.password)] = credential
        return credential

    def revoke(self, credential: RunCredential | ProcessCredential) -> None:
        """End a credential and cut the requests that still use it."""
        self._by_digest.pop(_digest_of(credential.password), None)
        for task in list(credential.open_requests):
            task.cancel()

    def revoke_all(self) -> None:
        for credential in list(self._by_digest.values()):
            self.revoke(credential)

    def find(self, authorization: str) -> RunCredential | None:
        """The live credential that an `Authorization` header proves; None where it proves none."""
        pair = parse_basic_authorization(authorization)
        if pair is None:
            return None
        user_name, password = pair
        credential = self._by_digest.get(_digest_of(password))
        if credential is None or not hmac.compare_digest(
            credential.password.encode(), password.encode()
        ):
            return None
        if isinstance(credential, ProcessCredential):
            return credential.of(user_name)
        # Python's client sends what the kubeconfig says; others may have re-encoded the identity.
        if user_name != credential.user_name and decode_identity(user_name) != credential.owner:
            return None
        return credential


def _digest_of(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()
