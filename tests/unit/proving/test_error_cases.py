"""Which requests fail in which ways: writes in each, and a read that comes again in one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rolecall.json_object import Json
from rolecall.proxy import parse_request_info
from rolecall.watches import WatchDefaults, load_watches
from rolecall_dev.proving.checks import CHECKS
from rolecall_dev.proving.model import Subject
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.staging import NO_LEEWAY, EndState, Traffic

NAMESPACE = "case-1"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps/web"
UNDISTURBED = Undisturbed(
    EndState(), NO_LEEWAY, EndState(), (), (), (), True, True, False, {}, (), {}
)
CR: Json = {
    "apiVersion": "shop.example.com/v1",
    "kind": "Site",
    "metadata": {"name": "blog"},
}


def subject(tmp_path: Path, *asked: tuple[str, str]) -> Subject:
    (tmp_path / "roles" / "site" / "tasks").mkdir(parents=True)
    (tmp_path / "roles" / "site" / "tasks" / "main.yml").write_text("[]\n")
    file = tmp_path / "watches.yaml"
    file.write_text("[{group: shop.example.com, version: v1, kind: Site, role: site}]\n")
    (watch,) = load_watches(file, {}, WatchDefaults(), tmp_path, ())[0]
    traffic = Traffic(NAMESPACE)
    for method, path in asked:
        traffic.note(method, parse_request_info(method, path), "", is_play=True, at_s=0.0)
    known = replace(UNDISTURBED, requests=tuple(traffic.requests))
    return Subject(CrSample("site.yaml", CR, watch), known, {})


def test_read_that_comes_again_fails_in_one_way_only(tmp_path: Path) -> None:
    cases = CHECKS["errors"].cases(subject(tmp_path, ("GET", PATH), ("GET", PATH)))
    faults = {
        number: [it.params["fault"] for it in cases if it.params["occurrence"] == number]
        for number in (1, 2)
    }
    assert faults == {1: ["500", "429", "refused"], 2: ["500"]}


def test_write_fails_in_each_way_whenever_it_comes(tmp_path: Path) -> None:
    cases = CHECKS["errors"].cases(subject(tmp_path, ("PATCH", PATH), ("PATCH", PATH)))
    for number in (1, 2):
        faults = {it.params["fault"] for it in cases if it.params["occurrence"] == number}
        assert faults == {"timeout", "500", "429", "refused", "409"}


def test_what_is_not_about_objects_does_not_fail(tmp_path: Path) -> None:
    assert not CHECKS["errors"].cases(subject(tmp_path, ("GET", "/version")))
