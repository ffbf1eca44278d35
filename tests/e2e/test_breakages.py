"""A new operator, broken in ten ways: what `kubectl describe`, the log, `status` and `check` say.

`TRANSCRIPT=docs/guides/when-it-breaks.md` writes what was seen into that page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall_dev.localcluster import Cluster
from tests.e2e.breakages import BREAKAGES, Breakage
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, ROOT, EngineProcess
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually

SAMPLE = "config/samples/web_v1alpha1_website.yaml"


@dataclass
class Website:
    """The project, its engine and its cluster, as one person sees them."""

    folder: Path
    cluster: Cluster
    namespace: str
    engine: EngineProcess
    pages: list[str] = field(default_factory=list)

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        return self.cluster.kubectl("-n", self.namespace, *arguments, stdin=stdin)

    def rolecall(self, *arguments: str) -> str:
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}
        environment["KUBECONFIG"] = str(self.cluster.kubeconfig)
        environment["ANSIBLE_COLLECTIONS_PATH"] = str(ROOT / ".collections")
        command = [sys.executable, "-m", "rolecall", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def apply(self, name: str, message: object = "hello", **annotations: str) -> str:
        cr = yaml.safe_load((self.folder / SAMPLE).read_text())
        cr["metadata"] = {"name": name, "annotations": annotations}
        cr["spec"]["message"] = message
        return self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(cr))

    def described(self, name: str) -> str:
        """Status and Events, lines joined as an eye does."""
        return self.kubectl("describe", "website", name)

    def status(self, name: str) -> str:
        where = f"--artifacts-dir={self.engine.artifacts}"
        return self.rolecall("status", f"website/{name}", "-n", self.namespace, where)

    def is_ready(self, name: str) -> bool:
        cr: Any = self.cluster.kubectl_json("-n", self.namespace, "get", "website", name)
        rows = cr.get("status", {}).get("conditions", [])
        return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)


@pytest.fixture
def website(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cluster: Cluster,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> Iterator[Website]:
    folder = tmp_path / "website-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert main(["init", "--domain", "example.com"]) == 0
    names = ["--group", "web", "--version", "v1alpha1", "--kind", "Website"]
    assert main(["create", "api", *names, "--finalizer"]) == 0
    cluster.kubectl("apply", "-k", "config/crd")
    cluster.kubectl("wait", "--for=condition=Established", "crd/websites.web.example.com")
    rules = [
        rule
        for file in ("engine_role", "events_role", "role")
        for each in yaml.safe_load_all((folder / "config" / "rbac" / f"{file}.yaml").read_text())
        for rule in each["rules"]
    ]
    kubeconfig = service_account_kubeconfig(rules, rules)
    engine = start_engine(folder, kubeconfig=kubeconfig).wait_ready()
    found = Website(folder, cluster, namespace, engine)
    yield found
    if page := os.environ.get("TRANSCRIPT"):
        text = (
            _page(found.pages)
            .replace(f"{folder}/", "")
            .replace(f"{ROOT}/", "")
            .replace(namespace, "default")
        )
        (ROOT / page).write_text(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))
    cluster.kubectl("delete", "crd", "websites.web.example.com", "--wait=false")


@pytest.mark.nightly
def test_ten_breakages_are_reported_where_their_user_looks(
    website: Website, subtests: pytest.Subtests
) -> None:
    for number, breakage in enumerate(BREAKAGES, 1):
        with subtests.test(breakage.what):
            breaks_and_is_mended(website, f"site-{number}", breakage)
    with subtests.test("A custom resource that is refused"):
        with pytest.raises(Exception, match=r"spec\.message.*string") as refused:
            website.apply("site-10", message=7)
        said = {"`kubectl apply`": str(refused.value)}
        sample = website.folder / SAMPLE
        before = sample.read_text()
        sample.write_text(before.replace("message: hello", "message: 7"))
        said["`rolecall check`"] = checked = website.rolecall("check")
        assert SAMPLE in checked
        assert "message" in checked
        sample.write_text(before)
        website.pages.append(_section("A custom resource that is refused", said))


def breaks_and_is_mended(website: Website, name: str, breakage: Breakage) -> None:
    before = {file: (website.folder / file).read_text() for file in breakage.files}
    if breakage.is_deleted:
        website.apply(name)
        eventually(lambda: website.is_ready(name), timeout_s=PATIENCE_S)
    log_from = len(website.engine.log)
    for file, text in breakage.files.items():
        (website.folder / file).write_text(text)
    try:
        seen = _report(website, name, breakage, log_from)
        for words in breakage.described:
            assert words in seen["described"], (
                f"describe does not say {words!r}:\n{seen['described']}"
            )
        if breakage.checked:
            assert breakage.checked in seen["checked"], seen["checked"]
    finally:
        for file, text in before.items():
            (website.folder / file).write_text(text)
    if breakage.is_deleted:
        website.kubectl("wait", "--for=delete", f"website/{name}", f"--timeout={PATIENCE_S:.0f}s")
    else:
        # No request is needed: the mended file is enough.
        eventually(lambda: website.is_ready(name), timeout_s=PATIENCE_S)
        website.kubectl("delete", "website", name)


def _report(website: Website, name: str, breakage: Breakage, log_from: int) -> dict[str, str]:
    checked = website.rolecall("check") if breakage.checked else ""
    if breakage.is_deleted:
        website.kubectl("delete", "website", name, "--wait=false")
    else:
        website.apply(name, **breakage.annotations)

    def is_reported(text: str) -> bool:
        return all(words in text for words in breakage.described)

    described = eventually(
        lambda: _joined(website.described(name)), is_reported, timeout_s=PATIENCE_S
    )

    def reported_lines() -> list[str]:
        lines = website.engine.log[log_from:].splitlines()
        return [line for line in lines if all(words in line for words in breakage.logged)]

    # The log's line comes after the status has been written.
    if breakage.logged:
        eventually(reported_lines, timeout_s=PATIENCE_S)
    # A CR with a period of seconds is at its next run now and then.
    status = eventually(
        lambda: website.status(name),
        lambda text: all(words in text for words in breakage.listed),
        timeout_s=PATIENCE_S,
    )
    got = website.kubectl("get", "website", name, "-o", "wide")
    assert breakage.got in got
    said = {
        "`rolecall check`, before anything runs": checked,
        "`kubectl describe`": _shown(website.described(name), breakage.described),
        "`kubectl get -o wide`": got if breakage.got else "",
        "`rolecall status`": re.sub(r"^engine of .*\n?", "", status, flags=re.MULTILINE),
    }
    website.pages.append(_section(breakage.what, said))
    return {"described": described, "checked": checked}


def _joined(text: str) -> str:
    return re.sub(r"\s*\n\s+", " ", text)


def _section(title: str, said: dict[str, str]) -> str:
    blocks = [
        f"{who}:\n\n```text\n{text.strip()}\n```\n" for who, text in said.items() if text.strip()
    ]
    return "\n".join([f"## {title}\n", *blocks])


def _shown(described: str, words: tuple[str, ...]) -> str:
    """The Events if they contain the words, else the conditions that do."""
    conditions, _, events = described[described.find("  Conditions:") :].partition("\nEvents:")
    if all(each in _joined(events) for each in words):
        return f"Events:{events}"
    blocks = re.split(r"^(?=    (?:Ansible Result|Last Transition Time):)", conditions, flags=re.M)
    found = (it for it in blocks[1:] if any(each in _joined(it) for each in words))
    return "".join(["Conditions:\n", *found])


_INTRODUCTION = """\
# When it breaks

Ten faults in a new operator, made by `rolecall init` and
`rolecall create api ... --kind Website --finalizer`, and their messages. The engine sees the fixed
file and tries again at once. A test makes these faults, fixes them, and writes this page.

The log has one line with the same message for each failed run: [logs](logs.md).
`rolecall stop website/NAME` ends a run that hangs.

"""


def _page(sections: list[str]) -> str:
    return _INTRODUCTION + "\n".join(sections)
