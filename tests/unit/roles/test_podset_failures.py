"""How a PodSet waits before it replaces pods that ended, and what it says meanwhile."""

from __future__ import annotations

import pytest

from tests.unit.roles.filters import role_filter
from tests.unit.roles.pods import CR, NOW, Json, pod, wish

plan = role_filter("podset", "podset_plan")
verdict = role_filter("podset", "podset_verdict")


def at(clock: str) -> str:
    return f"2026-01-01T{clock}Z"


def ended(name: str, created: str = "01", code: int = 1) -> Json:
    found = pod(name, phase="Failed", ready=False, created=created)
    terminated = {"exitCode": code, "finishedAt": f"2026-01-01T00:00:{created}Z"}
    found["status"]["containerStatuses"] = [{"name": "app", "state": {"terminated": terminated}}]
    return found


class Life:
    """One PodSet whose pods come and go as its plans say."""

    def __init__(self, replicas: int = 1) -> None:
        self.wish = wish(replicas)
        self.status: Json = {}
        self.pods: list[Json] = []
        self.said: Json = {}

    def run(self, clock: str) -> Json:
        cr = {**CR, "status": self.status}
        made: Json = plan(self.pods, cr, self.wish, at(clock))
        gone = {one["metadata"]["name"] for one in made["remove"]}
        self.pods = [one for one in self.pods if one["metadata"]["name"] not in gone]
        for name in made["created"]:
            fresh = pod(name)
            fresh["metadata"]["creationTimestamp"] = at(clock)
            self.pods.append(fresh)
        self.said = verdict(made, cr, self.wish, at(clock), "")
        self.status = self.said["status"]
        return made

    def end_all(self) -> None:
        for one in self.pods:
            one["status"]["phase"] = "Failed"

    def names(self) -> list[str]:
        return [one["metadata"]["name"] for one in self.pods]


def test_first_pod_that_ends_is_replaced_at_once_and_then_ever_later_up_to_five_minutes() -> None:
    life, clock = Life(), 0
    life.run("00:00:00")
    waits = []
    for _ in range(8):
        life.end_all()
        began = clock
        while not life.run(f"{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}")["created"]:
            clock += 10
        waits.append(clock - began)
        clock += 1
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]


def test_ten_minutes_without_an_end_make_the_next_one_the_first_again() -> None:
    life = Life()
    life.run("00:00:00")
    for clock in ("00:01:00", "00:01:05"):
        life.end_all()
        life.run(clock)
    life.run("00:01:20")
    assert life.status["failures"] == 2
    life.run("00:12:00")
    assert life.status["failures"] == 0
    life.end_all()
    assert life.run("00:13:00")["created"] != []


def test_pods_that_end_together_are_one_failure() -> None:
    life = Life(replicas=10)
    life.run("00:00:00")
    life.end_all()
    assert len(life.run("00:01:00")["created"]) == 10
    assert life.status["failures"] == 1


def test_pods_that_end_one_after_the_other_are_one_failure() -> None:
    life = Life(replicas=3)
    life.run("00:00:00")
    for number in range(3):
        life.pods[-1 - number]["status"]["phase"] = "Failed"
        life.pods.sort(key=lambda one: one["metadata"]["name"])
        life.run(f"00:01:0{number}")
    assert life.status["failures"] == 1


def test_pod_that_somebody_deleted_is_made_anew_while_another_waits() -> None:
    pods = [ended("web-0")]
    status = {"podNames": ["web-0", "web-1"], "failures": 3, "lastFailureTime": NOW}
    status |= {"waitingReplicas": 1, "podNames": ["web-1"]}

    assert plan(pods, {**CR, "status": status}, wish(2), NOW)["created"] == ["web-1"]


def test_edit_of_the_template_ends_the_waiting() -> None:
    old = ended("web-0")
    old["metadata"]["labels"]["apps.rolecall.dev/template"] = "older"
    status = {"failures": 5, "lastFailureTime": NOW, "waitingReplicas": 1, "podNames": []}
    made = plan([old], {**CR, "status": status}, wish(1), NOW)

    assert (made["created"], made["failure"]["failures"]) == (["web-1"], 0)


def test_only_the_pod_that_ended_last_is_kept() -> None:
    made = plan(
        [ended("web-0", "01"), ended("web-1", "03"), ended("web-2", "02")], CR, wish(1), NOW
    )

    assert [one["metadata"]["name"] for one in made["remove"]] == ["web-0", "web-2"]
    assert made["last"]["metadata"]["name"] == "web-1"


def test_no_pod_that_ended_is_kept_where_none_is_wanted() -> None:
    assert plan([ended("web-0")], CR, wish(0), NOW)["last"] is None
    assert len(plan([ended("web-0")], CR, wish(0), NOW)["remove"]) == 1


def test_failure_is_told_with_its_exit_code_its_count_and_the_time_of_the_next_try() -> None:
    life = Life()
    life.run("00:00:00")
    life.pods = [ended("web-0")]
    life.run("00:01:00")
    life.pods[1] = ended("web-1", "59")
    life.pods[1]["metadata"]["creationTimestamp"] = at("00:01:00")
    life.run("00:01:03")

    assert (life.said["reason"], life.said["ready"]) == ("BackOff", False)
    assert life.said["message"] == (
        "0 of 1 pods are ready; web-1 ended with exit code 1, failure 2 in a row,"
        " replaced at 2026-01-01T00:01:13Z; see kubectl logs web-1"
    )
    assert life.said["again"] == "10s"
    assert life.status["lastFailedPod"] == "web-1"
    said = life.said["message"]
    life.run("00:01:05")
    assert life.said["message"] == said


@pytest.mark.parametrize(
    ("pods", "reason", "message"),
    [
        ([pod("web-0"), pod("web-1")], "AllReady", "2 of 2 pods are ready"),
        (
            [pod("web-0"), pod("web-1", ready=False)],
            "PodsPending",
            "1 of 2 pods are ready: web-1: x",
        ),
        (
            [pod("web-0"), pod("web-1", template="older")],
            "AllReady",
            "2 of 2 pods are ready; 1 of 2 have the present template",
        ),
    ],
)
def test_verdict_says_how_many_are_ready_and_why_the_others_are_not(
    pods: list[Json], reason: str, message: str
) -> None:
    why = "web-1: x" if reason == "PodsPending" else ""
    said = verdict(plan(pods, CR, wish(2), NOW), CR, wish(2), NOW, why)

    assert (said["reason"], said["message"]) == (reason, message)
    assert said["status"]["readyReplicas"] == (1 if why else 2)


def test_rollout_is_not_done_until_every_pod_has_the_present_template() -> None:
    rolling = wish(2, type="RollingUpdate", minReadySeconds=700)
    pods = [pod("web-0"), pod("web-1", template="older")]
    said = verdict(plan(pods, CR, rolling, NOW), CR, rolling, NOW, "")

    assert (said["ready"], said["reason"], said["status"]["updatedReplicas"]) == (
        False,
        "Rolling",
        1,
    )


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [({"paused": True}, "RolloutPaused"), ({"partition": 1}, "AllReady"), ({}, "Rolling")],
)
def test_rollout_that_was_stopped_says_by_what(strategy: Json, reason: str) -> None:
    rolling = wish(2, type="RollingUpdate", minReadySeconds=700, **strategy)
    pods = [pod("web-0"), pod("web-1", template="older")]
    said = verdict(plan(pods, CR, rolling, NOW), CR, rolling, NOW, "")

    assert said["reason"] == reason
