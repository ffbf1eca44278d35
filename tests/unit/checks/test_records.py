"""`prune` and `watchReads` against arguments of plays, kinds and rights."""

from __future__ import annotations

from tests.unit.checks.workshop import ROLE, WATCHES, Workshop, only

DEPLOYMENT = "config/manager/manager.yaml"
MANAGER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
spec:
  template:
    spec:
      containers:
        - name: manager
          args:
            - --leader-elect
            - --ansible-args=--skip-tags slow
"""
PRUNES = "  role: demo\n  prune: true\n"
CONFIG_MAPS = "verbs: [get, list, create, patch, update, delete]"


def prune(workshop: Workshop, key: str = "prune: true") -> None:
    workshop.replace(WATCHES, "  role: demo\n", f"  role: demo\n  {key}\n")
    rule = f'  - {{apiGroups: [""], resources: [configmaps], {CONFIG_MAPS}}}\n'
    workshop.replace(ROLE, "rules:\n", f"rules:\n{rule}")


def test_prune_beside_arguments_for_a_part_is_an_error_with_its_line(workshop: Workshop) -> None:
    prune(workshop)
    workshop.write(DEPLOYMENT, MANAGER)
    error = only(workshop.errors())
    assert error.startswith(f"{DEPLOYMENT}:11: `--skip-tags` in `--ansible-args`")
    assert "so `prune` has no effect for Demo (watches.yaml:1)" in error
    workshop.write(DEPLOYMENT, MANAGER.replace("--skip-tags slow", "--diff"))
    assert workshop.errors() == []


def test_arguments_in_a_word_of_their_own_are_found_too(workshop: Workshop) -> None:
    prune(workshop)
    args = MANAGER.replace("=--skip-tags slow", "\n            - -t install")
    workshop.write(DEPLOYMENT, args)
    assert only(workshop.errors()).startswith(f"{DEPLOYMENT}:12: `--tags`")


def test_kinds_that_do_not_exist_are_named_with_what_was_meant(workshop: Workshop) -> None:
    kinds = "watchReads: [{version: v1, kind: Secrets}, {group: other.io, version: v1, kind: A}]"
    prune(workshop, kinds)
    error = only(workshop.errors())
    assert "`watchReads` of Demo names kind `Secrets`, which `v1` does not have" in error
    assert "did you mean `Secret`?" in error


def test_prune_needs_the_right_to_keep_inventories(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "  role: demo\n", PRUNES)
    warning = only(workshop.warnings())
    assert "not allowed to get, list, create, patch, update, delete `configmaps`" in warning
    assert "so nothing of Demo will be pruned" in warning
