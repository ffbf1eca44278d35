"""What docs/capabilities.md claims is what the bundle claims, and every row's evidence is there."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "capabilities.md").read_text()


def test_evidence_of_every_row_exists() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| I", line)]
    assert rows
    for row in rows:
        found = re.search(r"`(\S+\.py)::(\w+)`", row)
        assert found, row
        assert f"def {found[2]}(" in (ROOT / found[1]).read_text(), row


def test_bundle_claims_the_level_that_the_page_claims() -> None:
    csv = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    level = yaml.safe_load(csv.read_text())["metadata"]["annotations"]["capabilities"]
    assert f"The bundle claims `{level}`" in PAGE
