"""Who wrote a field last: a kept run, a field manager, or neither."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from rolecall.extensions.console.blame import Blamed, Write, blame, live_fields_of
from rolecall.json_object import Json

START = datetime(2026, 11, 1, 10, tzinfo=UTC)
PYTHON = "OpenAPI-Generator"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def write(run: str, seconds: float, *leaves: str, **more: Any) -> Write:
    """A merge patch, unless it says otherwise."""
    facts: dict[str, Any] = {
        "verb": "patch",
        "patch_type": "merge",
        "subresource": "",
        "manager": PYTHON,
        "task": f"task of {run}",
        "place": "roles/web/tasks/main.yml:3",
        **more,
    }
    began = at(seconds)
    ended = began + timedelta(milliseconds=20)
    return Write(cr="website/shop", run=run, at=began, ended=ended, leaves=leaves, **facts)


def managed(manager: str, seconds: int, fields: Json, **more: str) -> Json:
    time = at(seconds).isoformat().replace("+00:00", "Z")
    entry = {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields}
    return {**entry, **more}


def deployment(*entries: Json, **spec: Any) -> Json:
    metadata = {"name": "web", "uid": "u1", "managedFields": list(entries)}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def who(document: Json, path: str, *newest_first: Write) -> Blamed:
    found = {each.field.path: each for each in blame(live_fields_of(document), newest_first)}
    return found[path]


REPLICAS: Json = {"f:spec": {"f:replicas": {}}}


def test_newest_run_that_set_the_field_wrote_it() -> None:
    document = deployment(managed(PYTHON, 20, REPLICAS), replicas=2)
    newer, older = write("b", 20, ".spec.replicas"), write("a", 10, ".spec.replicas")
    found = who(document, ".spec.replicas", write("c", 30, ".spec.paused"), newer, older)
    assert found.write == newer
    assert not found.is_doubtful


def test_manager_that_took_the_field_after_the_run_wrote_it() -> None:
    document = deployment(managed("kubectl", 40, REPLICAS), replicas=5)
    found = who(document, ".spec.replicas", write("a", 10, ".spec.replicas"))
    assert found.write is None
    assert found.manager is not None
    assert (found.manager.manager, found.manager.at) == ("kubectl", at(40))


def test_manager_that_took_it_in_the_same_second_wrote_it() -> None:
    document = deployment(managed("kubectl", 10, REPLICAS), replicas=5)
    assert who(document, ".spec.replicas", write("a", 10.5, ".spec.replicas")).write is None


def test_run_that_set_the_value_that_was_there_wrote_it_last() -> None:
    document = deployment(managed("kubectl", 5, REPLICAS), replicas=5)
    mine = write("a", 10, ".spec.replicas")
    assert who(document, ".spec.replicas", mine).write == mine


def test_apply_that_no_longer_has_the_field_let_it_go() -> None:
    document = deployment(managed("hpa", 5, REPLICAS), replicas=5)
    applied = {"patch_type": "apply", "manager": "ansible"}
    newer = write("b", 20, ".spec.paused", **applied)
    older = write("a", 10, ".spec.replicas", **applied)
    found = who(document, ".spec.replicas", newer, older)
    assert found.write is None
    assert found.manager is not None
    assert found.manager.manager == "hpa"


def test_apply_of_another_manager_lets_nothing_go() -> None:
    document = deployment(managed(PYTHON, 10, REPLICAS), replicas=5)
    other = write("b", 20, ".spec.paused", patch_type="apply", manager="ansible")
    mine = write("a", 10, ".spec.replicas")
    assert who(document, ".spec.replicas", other, mine).write == mine


def test_update_without_the_field_took_it_back() -> None:
    document = deployment(managed(PYTHON, 20, REPLICAS), replicas=1)
    whole = write("b", 20, ".spec.paused", verb="update", patch_type="")
    found = who(document, ".spec.replicas", whole, write("a", 10, ".spec.replicas"))
    assert found.write == whole  # the API server filled its default in
    assert found.is_filled_in


def test_body_too_long_to_be_known_takes_nothing_back() -> None:
    document = deployment(managed(PYTHON, 20, REPLICAS), replicas=1)
    unknown = write("b", 20, verb="update", patch_type="")
    mine = write("a", 10, ".spec.replicas")
    assert who(document, ".spec.replicas", unknown, mine).write == mine


def test_field_set_with_all_around_it_counts() -> None:
    document = deployment(template={"spec": {"volumes": {"cache": {"emptyDir": {"x": "1"}}}}})
    mine = write("a", 10, ".spec.template.spec.volumes.cache.emptyDir")
    path = ".spec.template.spec.volumes.cache.emptyDir.x"
    assert who(document, path, mine).write == mine


def test_elements_are_found_by_name_and_by_place() -> None:
    items = [{"name": "web", "image": "a"}, {"name": "side", "image": "b"}]
    document = deployment(containers=items)
    by_place = write("b", 20, ".spec.containers[1].image", patch_type="json")
    by_name = write("a", 10, '.spec.containers[name="web"].image')
    path = '.spec.containers[name="{}"].image'
    assert who(document, path.format("web"), by_place, by_name).write == by_name
    assert who(document, path.format("side"), by_place, by_name).write == by_place


def test_default_belongs_to_the_first_write_beside_it() -> None:
    fields: Json = {
        "f:spec": {"f:strategy": {"f:type": {}}, "f:side": {"f:policy": {}, "f:image": {}}}
    }
    document = deployment(
        managed(PYTHON, 20, fields), strategy={"type": "x"}, side={"image": "i", "policy": "p"}
    )
    made = write("a", 10, ".spec.replicas", verb="create", patch_type="")
    later = write("b", 20, ".spec.side.image")
    found = who(document, ".spec.side.policy", later, made)
    assert (found.write, found.is_filled_in) == (later, True)
    assert who(document, ".spec.strategy.type", later, made).write == made


def test_same_manager_of_another_program_is_not_taken_for_a_run() -> None:
    document = deployment(managed(PYTHON, 90, {"f:spec": {"f:paused": {}}}), paused=True)
    found = who(document, ".spec.paused", write("a", 10, ".spec.replicas"))
    assert found.write is None
    assert found.manager is not None


def test_same_manager_that_wrote_again_later_leaves_a_doubt() -> None:
    document = deployment(managed(PYTHON, 90, REPLICAS), replicas=1)
    found = who(document, ".spec.replicas", write("a", 10, ".spec.replicas"))
    assert found.write is not None
    assert found.is_doubtful


def test_status_is_asked_of_writes_through_status_alone() -> None:
    entry = managed(PYTHON, 20, {"f:status": {"f:url": {}}}, subresource="status")
    document = {**deployment(entry), "status": {"url": "x"}}
    through = write("a", 10, ".status.url", subresource="status")
    beside = write("b", 20, ".status.url")
    assert who(document, ".status.url", beside, through).write == through


def test_field_without_a_manager_is_blamed_on_none() -> None:
    document = deployment(dnsPolicy="ClusterFirst")
    found = who(document, ".spec.dnsPolicy", write("a", 10, ".spec.replicas"))
    assert (found.write, found.manager) == (None, None)
    named = who(document, ".metadata.name", write("a", 10, ".metadata.name"))
    assert (named.write, named.manager) == (None, None)
