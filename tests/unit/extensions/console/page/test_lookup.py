"""A user without rights to an object gets the same answer as if it did not exist."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import NOON
from tests.unit.extensions.console.page.serving import CR, Shown, place, shown

from rolecall.history import FailedTask, KeptRun, this_process, write_run

TEAM, CHIEF = "token-of-team", "token-of-chief"
RULES = [
    (verb, resource, "team") for verb in ("get", "list", "patch") for resource in ("websites",)
]


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    """`team` may do all in its namespace; `chief` everywhere."""
    async with shown(tmp_path) as page:
        page.cluster.knows("team", *RULES, ("get", "websites/log", "team"))
        page.cluster.knows("looker", ("get", "websites", "team"), ("list", "websites", "team"))
        page.cluster.knows("chief", ("get", "websites", "*"), ("get", "websites/log", "*"))
        page.has("mine", namespace="team")
        page.has("theirs", namespace="bank")
        for name, namespace in (("mine", "team"), ("theirs", "bank")):
            keep(page, namespace, name, "100", reason=f"SECRET-OF-{namespace}")
        yield page


def keep(page: Shown, namespace: str, name: str, run: str, reason: str = "") -> None:
    folder = page.world.root / "demo.example.com/v1/Website" / namespace / name / "artifacts" / run
    folder.mkdir(parents=True)
    (folder / "stdout").write_text(f"SECRET-OF-{namespace}")
    began = NOON + timedelta(seconds=int(run))
    failed = FailedTask("a task", "roles/x/tasks/main.yml:1", reason)
    write_run(
        KeptRun(
            run,
            began=began,
            ended=began,
            outcome="failed",
            reason=reason,
            failed_task=failed,
            engine=this_process(),
            folder=folder,
        )
    )


def without_address(text: str, path: str) -> str:
    """A refusal names what was asked for; all else is compared."""
    names = {path, *path.split("/"), path.rpartition("/")[2]}
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, "_")
    return re.sub(r'data-form-token="[^"]+"|value="[^"]+"', "", text)


@pytest.mark.parametrize("after", ["", "/runs/100", "/runs/100/stdout", "/compare/100/100"])
async def test_forbidden_and_absent_are_the_same_answer(page: Shown, after: str) -> None:
    unknown_kind = "/cr/other.example.com/v1/Gadget/bank/theirs"
    paths = [place("theirs", "bank"), place("absent", "bank"), unknown_kind]
    answers = [await page.asks(f"{path}{after}", token=TEAM) for path in paths]
    assert [answer.code for answer in answers] == [404] * 3
    reported = {
        re.sub(r"There is no [^<·]*", "", without_address(answer.text, path))
        for answer, path in zip(answers, paths, strict=True)
    }
    assert len(reported) == 1
    assert "SECRET" not in "".join(reported)


@pytest.mark.parametrize(
    "name",
    [
        "..%2Fbank%2Ftheirs",
        "%2E%2E%2Fbank%2Ftheirs",
        "mine%2F..%2F..%2Fbank%2Ftheirs",
        "..",
        ".",
        "a%5Cb",
        "a%00b",
        "a%0Ab",
        "%E2%80%AEa",
        "x" * 254,
    ],
)
async def test_name_with_slashes_does_not_lead_to_runs_of_another_namespace(
    page: Shown, name: str
) -> None:
    for token in (TEAM, CHIEF):
        for after in ("", "/runs/100", "/runs/100/stdout", "/runs/100/facts", "/runs/100/events"):
            answer = await page.asks(f"{CR}/team/{name}{after}", token=token)
            assert answer.code == 404
            assert "SECRET" not in answer.text


@pytest.mark.parametrize("namespace", ["..", "..%2Fbank", "team%2F..%2Fbank", "TEAM", "a%2Fb", "."])
async def test_namespace_with_slashes_leads_nowhere(page: Shown, namespace: str) -> None:
    answer = await page.asks(f"{CR}/{namespace}/theirs/runs/100/stdout", token=CHIEF)
    assert answer.code == 404
    assert "SECRET" not in answer.text


@pytest.mark.parametrize("run", ["..", "..%2F100", "100%2F..%2F100", "10", "", "%2E%2E"])
async def test_only_kept_runs_of_the_object_are_found(page: Shown, run: str) -> None:
    for after in ("", "/stdout", "/facts", "/events", "/tasks/1"):
        answer = await page.asks(f"{place('mine', 'team')}/runs/{run}{after}", token=TEAM)
        assert answer.code == 404
    assert (await page.asks(f"{place('mine', 'team')}/runs/100", token=TEAM)).code == 200


async def test_runs_of_two_objects_are_not_compared(page: Shown) -> None:
    keep(page, "bank", "theirs", "200")
    keep(page, "team", "mine", "300")
    mine = place("mine", "team")
    assert (await page.asks(f"{mine}/compare/100/300", token=TEAM)).code == 200
    for pair in ("100/200", "200/100", "200/200"):
        answer = await page.asks(f"{mine}/compare/{pair}", token=TEAM)
        assert answer.code == 404 and "SECRET-OF-bank" not in answer.text


async def test_runs_take_a_right_of_their_own(page: Shown) -> None:
    mine, looker = place("mine", "team"), "token-of-looker"
    for after in ("/runs/100", "/runs/100/stdout", "/runs/100/events", "/compare/100/100"):
        answer = await page.asks(f"{mine}{after}", token=looker)
        assert answer.code == 403
        assert "websites/log" in answer.text and "SECRET" not in answer.text


async def test_what_tasks_said_is_not_on_the_page_of_who_may_not_read_logs(page: Shown) -> None:
    mine = place("mine", "team")
    assert "SECRET-OF-team" in (await page.asks(mine, token=TEAM)).text
    answer = await page.asks(mine, token="token-of-looker")
    assert answer.code == 200
    assert "SECRET" not in answer.text
    assert ">failed<" in answer.text


async def test_lists_and_counts_have_what_the_reader_may_list(page: Shown) -> None:
    for path in ("/", "/?fragment=1", "/crs", "/crs?fragment=1", "/crs?name=theirs"):
        assert "bank" not in (await page.asks(path, token=TEAM)).text
    assert "1 object" in (await page.asks("/crs", token=TEAM)).text
    answer = await page.asks("/crs?fragment=1", token=TEAM)
    assert (answer.headers["X-Total"], answer.headers["X-Found"]) == ("1", "1 object")


async def test_label_is_found_by_who_may_list_one_namespace(page: Shown) -> None:
    page.has("second", namespace="team")
    page.has("mine", namespace="other")
    page.cluster.rules["team"].add(("list", "websites", "other"))
    for namespace, name in (("team", "mine"), ("bank", "theirs")):
        page.cluster.objects["Website", namespace, name]["metadata"]["labels"] = {"app": "x"}
    answer = await page.asks("/crs?label=app%3Dx", token=TEAM)
    assert "1 object" in answer.text and place("mine", "team") in answer.text
    assert "0 objects" in (await page.asks("/crs?label=app%3Dx&namespace=bank", token=TEAM)).text
    assert "0 objects" in (await page.asks("/crs?label=app%3Dy", token=TEAM)).text
    assert "0 objects" in (await page.asks("/crs?label=app%3Dx&namespace=..%2F..", token=TEAM)).text
