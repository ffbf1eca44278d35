"""Seeded worlds for the page; `python -m tests.browser.worlds busy --port 8099` serves one."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from rolecall.workqueue import Key, Urgency
from tests.browser.hostile_world import hostile
from tests.browser.seeded_crs import Failure, SeededCr, add_cr, usual_cause
from tests.browser.seeded_roles import BACKUP, CACHE, CERTIFICATE, DATABASE, WEBSITE, RoleTask
from tests.browser.seeded_runs import SeededRun
from tests.browser.seeded_world import NOON, NOW, SeededWorld
from tests.browser.served_worlds import TOKEN, served_world

QUOTA = Failure(
    2,
    "Failed to patch object: pods is forbidden: exceeded quota: team-quota, requested:"
    " limits.memory=256Mi, used: limits.memory=64Gi, limited: limits.memory=64Gi",
)
ISSUER = Failure(
    1,
    "Status code was 429 and not [201]: HTTP Error 429: Too Many Requests. The issuer"
    " acme-v02.example.com allows 300 new orders in 3 hours for this account.",
)
ACCOUNT = Failure(0, "The Secret issuer-account has no key `tls.key`; create it as the guide says.")
PULL = Failure(
    4,
    "Deployment is not available: 1 of 2 pods are ready;"
    " main: ImagePullBackOff, registry.example.com/website:1.2 was not found",
)
MIGRATION = Failure(5, "Job did not succeed: migration 0042 failed: column `owner` already exists")
TEAMS = ("blue", "green", "north", "south", "payments")
MANY, TASKS = 10_000, 5_000
LONG_RUN = Key(WEBSITE.gvk, "shop-0", "site-00000")


def all_well(world: SeededWorld) -> None:
    """Three kinds, sixty CRs, a day of runs."""
    for role in (WEBSITE, DATABASE, CACHE):
        for number in range(20):
            team = TEAMS[number % 2]
            key = Key(role.gvk, team, f"{role.kind.lower()}-{number:02}")
            add_cr(world, SeededCr(key, role, every_s=3600.0, is_whole=number < 4))


def one_failing_kind(world: SeededWorld) -> None:
    """The same, and certificates, most of which fail for two reasons."""
    all_well(world)
    for number in range(20):
        key = Key(CERTIFICATE.gvk, TEAMS[number % 2], f"certificate-{number:02}")
        failure = None if number % 3 == 2 else ISSUER if number % 4 else ACCOUNT
        cr = SeededCr(key, CERTIFICATE, every_s=7200.0, failure=failure, is_whole=number < 4)
        add_cr(world, cr)


def storm(world: SeededWorld) -> None:
    """Five hundred CRs fail for one reason in five minutes, and are tried again."""
    for number in range(500):
        key = Key(WEBSITE.gvk, TEAMS[number % 5], f"website-{number:03}")
        ended = NOW - timedelta(seconds=30 + 300 * number / 500)
        cr = SeededCr(key, WEBSITE, every_s=4 * 3600.0, failure=QUOTA, failed_at=ended)
        cr.is_whole, cr.labels = number < 2, {"tier": "web"}
        add_cr(world, cr)
        if number % 10 == 0:
            world.waits(key, 20.0 + number / 20, Urgency.RETRY, "retry 2")
            world.moves(key, "waiting")
    for number in range(20):
        key = Key(DATABASE.gvk, TEAMS[number % 5], f"database-{number:02}")
        add_cr(world, SeededCr(key, DATABASE, every_s=4 * 3600.0))


def busy(world: SeededWorld) -> None:
    """What pictures show: 2,000 CRs of five kinds; databases got slower at noon."""
    sizes = {WEBSITE: 900, DATABASE: 300, CERTIFICATE: 350, CACHE: 400, BACKUP: 50}
    failures = {WEBSITE: (PULL, QUOTA), CERTIFICATE: (ISSUER, ACCOUNT), DATABASE: (MIGRATION,)}
    for role, size in sizes.items():
        for number in range(size):
            key = Key(role.gvk, TEAMS[number % len(TEAMS)], f"{role.kind.lower()}-{number:03}")
            cr = SeededCr(key, role, every_s=8 * 3600.0, is_whole=number < 15)
            cr.labels = {"tier": "gold" if number % 7 == 0 else "silver", "team": key.namespace}
            if role is DATABASE:
                cr.factor = lambda at: 3.2 if at > NOON else 1.0
            kinds_of_failure = failures.get(role, ())
            if kinds_of_failure and number % 41 == 7:
                cr.failure = kinds_of_failure[number // 41 % len(kinds_of_failure)]
            if role is CACHE and number < 12:
                cr.every_s, cr.cause = 300.0, f"drift of ConfigMap {key.name}-config"
            cr.is_paused = number % 150 == 31
            add_cr(world, cr)
    _work_now(world)


def _work_now(world: SeededWorld) -> None:
    """Eight runs in flight at different tasks, and a queue."""
    roles = (WEBSITE, DATABASE, BACKUP, DATABASE, WEBSITE, CERTIFICATE, WEBSITE, BACKUP)
    for number, role in enumerate(roles):
        key = _key(role.gvk, number, f"{role.kind.lower()}-{number:03}")
        seconds = role.seconds * (3.2 if role is DATABASE else 1.0)
        progress = (0.15, 0.35, 0.55, 0.75, 0.9, 0.4, 0.05, 0.95)[number]
        began = world.clock.now() - timedelta(seconds=seconds * progress)
        cause = usual_cause(world.random)
        run = SeededRun(key, role, began, seconds, cause, "running", progress=progress)
        run.generation = 2
        world.runs_now(run)
        world.moves(key, "running")
    urgencies = (Urgency.EDIT, Urgency.DEPENDENT, Urgency.RETRY, Urgency.PERIOD, Urgency.PERIOD)
    causes = ("edit", "drift of Deployment website-101", "retry 3", "period", "period")
    for number in range(46):
        key = _key(WEBSITE.gvk, number + 100, f"website-{number + 100:03}")
        which = number % len(urgencies)
        if world.state_of[key] == "ready":
            world.waits(key, 2.0 + number, urgencies[which], causes[which])
            world.moves(key, "waiting")


def _key(gvk: object, number: int, name: str) -> Key:
    return Key(gvk, TEAMS[number % len(TEAMS)], name)  # type: ignore[arg-type]


def many(world: SeededWorld) -> None:
    """Ten thousand CRs in ten namespaces, and a run of five thousand tasks of one of them."""
    for number in range(MANY):
        key = Key(WEBSITE.gvk, f"shop-{number // 1000}", f"site-{number:05}")
        add_cr(world, SeededCr(key, WEBSITE, every_s=30 * 3600.0))
    tasks = [
        RoleTask(f"step {number:04}", "kubernetes.core.k8s", 1.0, "ConfigMap" if number % 2 else "")
        for number in range(TASKS)
    ]
    changes = frozenset(range(0, TASKS, 100))
    began = NOW - timedelta(minutes=30)
    for outcome, minutes in (("succeeded", 0), ("failed", 11)):
        run = SeededRun(
            LONG_RUN, WEBSITE, began + timedelta(minutes=minutes), 600.0, "edit", outcome
        )
        run.tasks, run.changes = tasks, changes
        if outcome == "failed":
            run.fails_in, run.message = TASKS - 1, QUOTA.message
        world.ran(run, events=True, record=True)
    world.moves(LONG_RUN, "failed")


WORLDS: dict[str, Callable[[SeededWorld], None]] = {
    "all-well": all_well,
    "one-failing-kind": one_failing_kind,
    "storm": storm,
    "busy": busy,
    "many": many,
    "hostile": hostile,
}


def world(name: str, root: Path) -> SeededWorld:
    """One of `WORLDS`, with its three users; its artifacts lie below the root."""
    made = SeededWorld(root)
    WORLDS[name](made)
    made.know_last_runs()
    made.let_in_three_users()
    return made


@contextlib.contextmanager
def _interrupted() -> Iterator[None]:
    with contextlib.suppress(KeyboardInterrupt):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.worlds", description=__doc__)
    parser.add_argument("world", choices=sorted(WORLDS))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--users", action="store_true", help="log in: token-of-chief, -clerk ...")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _interrupted():
        began = time.monotonic()
        made = world(given.world, Path(folder))
        with served_world(made, is_local=not given.users, port=given.port) as serving:
            entrance = "" if given.users else f"?token={TOKEN}"
            took_s = time.monotonic() - began
            print(f"http://127.0.0.1:{serving.port}/{entrance} ({took_s:.1f} s)", flush=True)
            while True:
                time.sleep(3600)


if __name__ == "__main__":
    main()
