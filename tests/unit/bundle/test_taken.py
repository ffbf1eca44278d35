"""What kubectl says of CRDs that were made a moment ago."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall_dev.bundle.faults import Files
from rolecall_dev.bundle.scorecard import takes

TOO_NEW = "error: .status.conditions accessor error: <nil> is of the type <nil>"
CSV: Json = {"metadata": {"annotations": {}}, "spec": {"install": {"spec": {}}}}
FILES = Files("csv.yaml", CSV, {"a": {"kind": "CustomResourceDefinition"}}, {}, {}, [])


@pytest.mark.parametrize(
    ("said", "found"), [([TOO_NEW, TOO_NEW, ""], []), (["timed out"], ["timed out"])]
)
def test_crd_without_conditions_is_waited_for(said: list[str], found: list[str]) -> None:
    answers = iter(said)

    def kubectl(arguments: list[str], _text: str) -> str:
        return next(answers) if arguments[0] == "wait" else ""

    assert takes(FILES, kubectl)["cluster-takes-crds"] == found
    assert list(answers) == []
