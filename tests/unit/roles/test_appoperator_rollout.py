"""What `appoperator` decides about rollouts: which pod runs, and what is said of it."""

from __future__ import annotations

import pytest

from tests.unit.roles.filters import role_filter
from tests.unit.roles.rollouts import Json, Story, pod

is_complete = role_filter("appoperator", "appoperator_is_complete")
references = role_filter("appoperator", "appoperator_references")
contents_of = role_filter("appoperator", "appoperator_contents")


@pytest.fixture
def good() -> Story:
    """One whose first rollout completed."""
    story = Story()
    assert story.run() == "RollingOut"
    story.complete()
    assert story.run(after=5) == "Available"
    return story


def fail(story: Story, image: str = "app:bad") -> None:
    """Its next image never becomes available."""
    story.wishes["pod"] = pod(image)
    assert story.run() == "RollingOut"
    assert story.run(after=61, why="app-1: CrashLoopBackOff") == "RollingBack"


def test_rollout_without_progress_is_rolled_back_and_says_why(good: Story) -> None:
    fail(good)
    assert good.image() == "app:1"
    good.complete()

    assert good.run(after=5) == "RolledBack"
    assert good.said["message"] == (
        "the rollout of `app:bad` made no progress for 60 s (app-1: CrashLoopBackOff)"
        " and was rolled back to `app:1`; mend the spec to try again"
    )
    assert good.status["lastGoodImage"] == "app:1"


def test_scaling_does_not_try_a_failed_image_again(good: Story) -> None:
    fail(good)
    good.complete()
    assert good.run(after=5) == "RolledBack"

    for replicas in (5, 2):
        good.scale(replicas)
        assert good.run(after=1) == "RolledBack"
        assert good.image() == "app:1"


def test_scaling_in_the_middle_of_a_rollout_gives_it_no_more_time(good: Story) -> None:
    good.wishes["pod"] = pod("app:bad")
    good.run()
    for replicas in (4, 5, 6):
        good.scale(replicas)
        assert good.run(after=20) == "RollingOut"
    assert good.run(after=1) == "RollingBack"


@pytest.mark.parametrize(
    "mend", [{"pod": pod("app:2")}, {"deadline": 90}, {"minReady": 5}], ids=["pod", "time", "ready"]
)
def test_what_may_decide_a_rollout_tries_it_again(good: Story, mend: Json) -> None:
    fail(good)
    good.wishes |= mend
    assert good.run(after=1) == "RollingOut"
    assert good.image() != "app:1"


def test_container_that_crashes_again_and_again_makes_no_progress(good: Story) -> None:
    good.wishes["pod"] = pod("app:crashes")
    good.run()
    for _ in range(4):
        good.second += 15
        good.pods = [good.ready_pod(for_seconds=3)]
        assert good.run() == "RollingOut"
    assert good.run(after=1) == "RollingBack"


def test_pod_that_stays_ready_is_progress(good: Story) -> None:
    good.wishes["pod"] = pod("app:slow")
    good.run()
    good.second += 50
    good.pods = [good.ready_pod(for_seconds=10)]
    assert good.run() == "RollingOut"
    assert good.run(after=59) == "RollingOut"
    assert good.run(after=2) == "RollingBack"


def test_rollout_that_fails_without_an_earlier_one_stays_and_may_still_succeed() -> None:
    story = Story()
    story.run()
    assert story.run(after=61) == "RolloutFailed"
    assert story.said["message"].endswith("and there is no earlier one to go back to")
    story.complete()
    assert story.run(after=60) == "Available"
    assert story.status["failed"] is None


def test_good_rollout_whose_pods_fail_later_is_never_rolled_back(good: Story) -> None:
    good.deployment["status"]["availableReplicas"] = 1
    good.deployment["status"]["readyReplicas"] = 1
    for _ in range(3):
        assert good.run(after=100, why="app-2: Unschedulable") == "PodsNotReady"
    assert good.said["message"] == "1 of 3 pods are ready: app-2: Unschedulable"
    assert not good.said["isUnderWay"], "looked at by the period only"


def test_quota_is_told_where_no_pod_can_be_created(good: Story) -> None:
    good.wishes["pod"] = pod("app:2")
    good.run()
    words = 'pods "app-x" is forbidden: exceeded quota: small'
    good.deployment["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "message": words}
    ]
    good.run(after=1)
    assert good.said["message"] == f"3 of 3 pods are ready: {words}"


def test_run_that_finds_nothing_new_writes_nothing(good: Story) -> None:
    before = good.status
    assert good.run(after=1000) == "Available"
    assert good.status == before


def test_history_is_bounded_and_keeps_its_numbers(good: Story) -> None:
    for image in ("app:2", "app:3", "app:4"):
        good.wishes["pod"] = pod(image)
        good.run(after=10)
        good.complete()
        good.run(after=10)
    kept = [(one["revision"], one["image"]) for one in good.status["revisions"]]
    assert kept == [(4, "app:4"), (3, "app:3"), (2, "app:2")]

    good.wishes["rollbackTo"] = 2
    assert good.run(after=1) == "RollingOut"
    assert good.image() == "app:2"
    good.complete()
    assert good.run(after=1) == "Available"
    assert good.said["message"] == "3 of 3 pods run `app:2`, revision 2"
    assert [one["revision"] for one in good.status["revisions"]] == [2, 4, 3]


def test_last_good_values_of_an_older_release_are_gone_back_to() -> None:
    story = Story("app:bad")
    values = {"image": "app:old", "port": 80, "env": [], "resources": {}}
    story.status = {"lastGood": values, "lastGoodImage": "app:old"}
    story.run()
    assert story.run(after=61) == "RollingBack"
    container = story.deployment["spec"]["template"]["spec"]["containers"][0]
    assert container == {
        "name": "app-container",
        "image": "app:old",
        "ports": [{"name": "app", "containerPort": 80}],
    }


def test_other_content_of_a_config_map_rolls_the_pods_and_the_same_does_not(good: Story) -> None:
    good.wishes["pod"] = pod("app:2", volumes=[{"name": "c", "configMap": {"name": "settings"}}])
    config_map = {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
    good.contents = contents_of([config_map])
    good.run()
    good.complete()
    assert good.run(after=1) == "Available"

    config_map["metadata"] = {"name": "settings", "labels": {"new": "label"}}
    good.contents = contents_of([config_map])
    assert good.run(after=1) == "Available"
    config_map["data"] = {"a": "2"}
    good.contents = contents_of([config_map])
    assert good.run(after=1) == "RollingOut"
    assert good.run(after=61) == "RolloutFailed", "going back would not bring the content back"


def test_every_way_to_refer_to_a_config_map_or_secret_is_found() -> None:
    container = {
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "k"}}},
            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "b", "key": "k"}}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "envFrom": [{"secretRef": {"name": "d"}}, {"configMapRef": {"name": "e"}}],
    }
    volumes = [
        {"name": "f", "secret": {"secretName": "f"}},
        {"name": "g", "configMap": {"name": "b"}},
        {
            "name": "h",
            "projected": {"sources": [{"secret": {"name": "h"}}, {"configMap": {"name": "i"}}]},
        },
        {"name": "j", "emptyDir": {}},
    ]
    found = [
        (one["kind"], one["name"])
        for one in references([{"containers": [container], "volumes": volumes}])
    ]
    assert found == [
        *(("ConfigMap", name) for name in "bei"),
        *(("Secret", name) for name in "adfh"),
    ]


@pytest.mark.parametrize("lacking", ["replicas", "updatedReplicas", "availableReplicas"])
def test_deployment_with_a_pod_too_few_is_not_complete(good: Story, lacking: str) -> None:
    assert is_complete(good.deployment)
    good.deployment["status"][lacking] = 2
    assert not is_complete(good.deployment)
