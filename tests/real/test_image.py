"""What is in our operator's image, asked of a pod that runs it."""

from __future__ import annotations

import json

from tests.real.operator import Operator


def test_image_has_neither_compiler_nor_installer(operator: Operator) -> None:
    pod = operator.leader()
    for program in ("pip", "pip3", "uv", "cc", "gcc", "make"):
        found = operator.execute(pod, "sh", "-c", f"command -v {program} || true")
        assert found == "", f"{program} is in the image"
    modules = (
        "import importlib.util as u; print([m for m in ('pip', 'ensurepip') if u.find_spec(m)])"
    )
    assert operator.execute(pod, "python3", "-c", modules).strip() == "[]"


def test_paths_that_other_operators_name_are_there(operator: Operator) -> None:
    pod = operator.leader()
    assert "tini" in operator.execute(pod, "/tini", "--version")
    ours = operator.execute(pod, "rolecall", "version")
    assert operator.execute(pod, "/usr/local/bin/ansible-operator", "version") == ours
    look = "import kubernetes, sys; print(sys.executable, sys.path[-1])"
    said = operator.execute(pod, "/usr/local/bin/python3", "-c", look)
    assert said.split() == ["/opt/rolecall/bin/python3", "/opt/rolecall/python-packages"]


def test_image_weighs_less_than_200_mb(operator: Operator) -> None:
    # What its user may not read, such as /root, is next to nothing.
    look = "du -sxB1 --apparent-size / 2>/dev/null || true"
    said = operator.execute(operator.leader(), "sh", "-c", look)
    size = int(said.split()[0])
    print(f"{size / 1e6:.0f} MB installed")
    assert size < 200e6


_INSTALLED = """
import importlib.metadata
for found in importlib.metadata.distributions():
    print(found.metadata["Name"].lower().replace("_", "-"), found.version)
"""


def test_bill_of_materials_names_what_is_in_the_image(operator: Operator) -> None:
    pod = operator.leader()
    bill = json.loads(operator.execute(pod, "cat", "/opt/rolecall/sbom.cdx.json"))
    listed: dict[str, set[str]] = {"pypi": set(), "deb": set(), "generic": set()}
    for row in bill["components"]:
        listed[row["purl"].split("/")[0].removeprefix("pkg:")].add(
            f"{row['name']} {row['version']}"
        )
    python = operator.execute(pod, "python3", "-c", _INSTALLED).splitlines()
    debian = operator.execute(pod, "dpkg-query", "--show", "--showformat=${Package} ${Version}\\n")
    assert listed["pypi"] == set(python)
    assert listed["deb"] == set(debian.splitlines())
    assert {each.split()[0] for each in listed["generic"]} == {"kubernetes.core"}
