"""Rights for what follows from what runs read and wrote."""

from __future__ import annotations

from pathlib import Path

from rolecall.extensions.prune import Prune
from rolecall.extensions.reads import WatchReads
from rolecall.gvk import Gvk
from rolecall.watches import ExtensionKeys, Play, Watch
from rolecall_dev.rbac import RightsSources, derive

KIND = Gvk("cache.example.com", "v1", "Memcached")
TASKS = """
- k8s: {definition: {apiVersion: v1, kind: ConfigMap}}
- k8s: {definition: {apiVersion: v1, kind: PersistentVolumeClaim}}
- k8s_info: {kind: Secret, name: x}
"""
CLAIM = Gvk("", "v1", "PersistentVolumeClaim")


def rights(folder: Path, *asked: ExtensionKeys) -> set[str]:
    """Of a role with these tasks."""
    tasks = folder / "roles" / "memcached" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True, exist_ok=True)
    tasks.write_text(TASKS)
    play = Play(folder / "roles" / "memcached", is_role=True)
    found = derive(RightsSources(folder, [Watch(KIND, play, of_extensions=asked)]))
    return {str(right) for right in found.rights if right.group != KIND.group}


def test_nothing_is_added_where_nothing_is_asked_for(tmp_path: Path) -> None:
    assert not rights(tmp_path) & {"delete configmaps", "watch secrets"}


def test_prune_deletes_what_the_role_makes_and_claims_only_where_they_are_named(
    tmp_path: Path,
) -> None:
    plain = rights(tmp_path, Prune())
    assert plain - rights(tmp_path) == {"delete configmaps"}
    named = rights(tmp_path, Prune(frozenset({CLAIM})))
    assert named - plain == {"delete persistentvolumeclaims"}


def test_reads_are_listed_and_watched(tmp_path: Path) -> None:
    added = rights(tmp_path, WatchReads()) - rights(tmp_path)
    assert added == {"list secrets", "watch secrets"}
    assert rights(tmp_path, WatchReads(frozenset({CLAIM}))) == rights(tmp_path)
