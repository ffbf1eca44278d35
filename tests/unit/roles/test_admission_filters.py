"""What a Machine is given before it is stored."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter

defaults = role_filter("machine_defaults", "machine_defaults")
GIVEN_USERS = "openshift.io/sa.scc.uid-range"


def test_machine_is_given_the_disk_that_its_snapshot_needs() -> None:
    def disk(size: object, **spec: Any) -> object:
        found = defaults(spec, [{"status": {"restoreSize": size}}], [])
        return found.get("spec", {}).get("disk")

    assert disk("10Gi", disk=1) == 10
    assert disk("1500Mi", disk=1) == 2
    assert disk("5G") == 5
    assert disk(str(3 * 1024**3), disk=1) == 3
    assert disk("10Gi", disk=20) is None
    assert disk("10Gi", disk=5) is None  # somebody said so
    assert disk("1Gi", disk=1) is None
    assert disk("much", disk=1) is None


def test_machine_is_given_a_user_that_its_namespace_allows() -> None:
    def user(text: str, **spec: Any) -> object:
        namespace = {"metadata": {"annotations": {GIVEN_USERS: text}}}
        return defaults(spec, [], [namespace]).get("spec", {}).get("user")

    assert user("1000680000/10000") == 1000680000
    assert user("1000680000/10000", user=5) is None
    assert user("9999999999/1") is None
    assert user("nobody") is None
    assert defaults({}, [], [{"metadata": {}}]) == {}
