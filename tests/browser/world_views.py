"""Where the views of a seeded world are."""

from __future__ import annotations

from rolecall.extensions.console.page import places
from rolecall.workqueue import Key
from tests.browser.seeded_roles import DATABASE, GROUP
from tests.browser.seeded_world import NOON, SeededWorld


def views_of(world: SeededWorld, namespace: str = "") -> dict[str, str]:
    """The path of each view, by its name; of a CR that has pods, and failed if one of these did."""
    objects, paths = world.cluster.objects, {"overview": "/", "day": "/?span=day"}
    keys = [key for key in sorted(world.kept) if namespace in ("", key.namespace)]
    whole = [key for key in keys if ("Deployment", key.namespace, key.name) in objects] or keys
    key = min(whole, key=lambda key: world.state_of[key] != "failed")
    return {**paths, "kinds": "/kinds?since=12:00", "fleet": "/crs", **views_of_cr(world, key)}


def slower_database(world: SeededWorld) -> Key:
    """One whose last run began after noon, since when they take longer, and the run before did not."""
    last = {run.key: run for run in world.ended}
    return next(
        key
        for key, run in sorted(last.items())
        if (key.gvk, run.outcome) == (DATABASE.gvk, "succeeded")
        and run.began > NOON
        and ("StatefulSet", key.namespace, key.name) in world.cluster.objects
    )


def views_of_cr(world: SeededWorld, key: Key) -> dict[str, str]:
    """Of its newest runs that are kept; a task is the first of the newest run."""
    before, last = world.kept[key][-2:]
    run = places.of_run(key, last)
    return {
        "object": places.of_cr(key),
        "yaml": f"{places.of_cr(key)}/objects/apps/v1/Deployment/{key.namespace}/{key.name}",
        "own-yaml": places.of_object(key, GROUP, "v1", key.gvk.kind, key.namespace, key.name),
        "plan": places.of_plan(key),
        "asks": places.of_action(key, "reconcile"),
        "run": run,
        "run-by-time": f"{run}?order=time",
        "task": f"{run}/tasks/1",
        "output": f"{run}/stdout",
        "compared": places.of_comparison(key, before, last),
    }
