"""An operator in pods is looked into and acted on by the words that serve on one machine.

Each test leaves two healthy replicas behind, since the whole tier shares them.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.json_object import Json
from tests.fixtures.eventually import eventually
from tests.real import images
from tests.real.operator import NAMESPACE, Operator
from tests.real.person import Person, person_with
from tests.real.world import PATIENCE_S, World, mapping

NAME = "shop"


@pytest.fixture(scope="module")
def person(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Person:
    return Person(operator.cluster.kubeconfig, tmp_path_factory.mktemp("person"))


@pytest.fixture(scope="module", autouse=True)
def ready(operator: Operator, world: World) -> Iterator[None]:
    """One CR that ran."""
    operator.wait_complete(images.FIRST)
    operator.wait_for_leader()
    world.apply(mapping(NAME))
    world.wait_ready("mapping", NAME)
    yield
    world.kubectl("delete", "mapping", NAME, "--ignore-not-found")


def newest(person: Person, world: World) -> Json:
    runs = person.json("runs", f"mapping/{NAME}", "-n", world.namespace)["runs"]
    found: Json = runs[0]
    return found


def test_engine_of_the_leading_pod_reports_its_state(
    person: Person, operator: Operator, world: World
) -> None:
    said = person.rolecall("status", "mapping", "-n", world.namespace)
    assert f"\nengine of pod {NAMESPACE}/{operator.leader()} leads" in said.stderr
    assert f"mapping/{NAME}" in said.stdout
    state = person.json("status", f"mapping/{NAME}", "-n", world.namespace)
    assert state["engine"]["leads"] is True
    assert [each["state"] for each in state["crs"]] == ["ready"]


def test_runs_and_logs_are_those_of_the_pod(person: Person, world: World) -> None:
    run = newest(person, world)
    assert (run["outcome"], bool(run["cause"])) == ("succeeded", True)
    said = person.rolecall("logs", f"mappings/{NAME}", "-n", world.namespace, "--run", run["run"])
    assert "PLAY RECAP" in said.stdout


def test_reconcile_has_it_run_again_and_its_log_is_followed(person: Person, world: World) -> None:
    before = newest(person, world)["run"]
    words = ("-n", world.namespace, "--operator", f"{NAMESPACE}/rolecall")
    with subprocess.Popen(
        person.command("logs", "-f", f"mapping/{NAME}", *words),
        env=person.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        assert "PLAY RECAP" in wait_for_line(follower, "PLAY RECAP")
        person.rolecall("reconcile", f"mapping/{NAME}", *words)
        assert "PLAY RECAP" in wait_for_line(follower, "PLAY RECAP")
        follower.send_signal(signal.SIGINT)
        assert follower.wait(30) == 130
        assert follower.stderr is not None
        assert "Traceback" not in follower.stderr.read()
    run = eventually(
        lambda: newest(person, world),
        lambda run: run["run"] != before and run["outcome"] == "succeeded",
        timeout_s=PATIENCE_S,
    )
    assert run["cause"] == "asked for by a person"


def wait_for_line(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError("it ended")


def test_nothing_of_a_follower_that_went_stays_in_the_pod(
    person: Person, operator: Operator, world: World
) -> None:
    look = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"
    with subprocess.Popen(
        person.command("logs", "-f", f"mapping/{NAME}", "-n", world.namespace),
        env=person.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as follower:
        wait_for_line(follower, "PLAY RECAP")
        leader = operator.leader()
        assert "logs -f" in operator.execute(leader, "sh", "-c", look)
        follower.kill()
    eventually(lambda: "logs -f" not in operator.execute(leader, "sh", "-c", look))


def test_exit_code_and_hint_come_back(person: Person, world: World) -> None:
    said = person.try_("runs", "mapping/shpo", "-n", world.namespace)
    assert said.returncode == 2
    assert "did you mean `mapping/shop`?" in said.stderr


def test_pause_is_the_persons_and_resume_ends_it(person: Person, world: World) -> None:
    place = (f"mapping/{NAME}", "-n", world.namespace)
    person.rolecall("pause", *place, "--because", "moving the disks")
    annotations = world.get("mapping", NAME)["metadata"]["annotations"]
    assert annotations["rolecall.dev/paused"] == "true"
    assert annotations["rolecall.dev/paused-because"] == "moving the disks"
    assert annotations["rolecall.dev/paused-by"]
    eventually(lambda: person.json("status", *place)["crs"][0]["state"] == "paused")
    assert "paused, so nothing runs" in person.rolecall("reconcile", *place).stdout
    person.rolecall("resume", *place)
    assert "rolecall.dev/paused" not in world.get("mapping", NAME)["metadata"].get(
        "annotations", {}
    )
    eventually(lambda: person.json("status", *place)["crs"][0]["state"] != "paused")


def test_user_without_the_right_to_exec_gets_the_rule_to_add(
    operator: Operator, world: World, tmp_path: Path
) -> None:
    world.kubectl("create", "serviceaccount", "looker")
    who = f"--serviceaccount={world.namespace}:looker"
    verbs = ("--verb=get,list", "--resource=pods,leases.coordination.k8s.io")
    operator.kubectl("create", "role", "looker", *verbs)
    operator.kubectl("create", "rolebinding", "looker", "--role=looker", who)
    try:
        token = world.kubectl("create", "token", "looker").strip()
        said = person_with(token, operator, tmp_path).try_("status")
    finally:
        operator.kubectl("delete", "role,rolebinding", "looker")
    assert said.returncode == 3
    assert "resources: [pods/exec], verbs: [create, get]" in said.stderr
