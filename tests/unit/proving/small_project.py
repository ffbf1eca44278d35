"""A project of one kind with one sample, as little as `rolecall test` takes."""

from __future__ import annotations

from pathlib import Path

import yaml


def write_project(folder: Path) -> None:
    gvk = {"group": "shop.example.com", "version": "v1", "kind": "Site"}
    cr = {"apiVersion": "shop.example.com/v1", "kind": "Site", "metadata": {"name": "blog"}}
    (folder / "roles" / "site" / "tasks").mkdir(parents=True)
    (folder / "roles" / "site" / "tasks" / "main.yml").write_text("[]\n")
    (folder / "watches.yaml").write_text(yaml.safe_dump([{**gvk, "role": "site"}]))
    (folder / "config" / "samples").mkdir(parents=True)
    (folder / "config" / "samples" / "site.yaml").write_text(yaml.safe_dump(cr))
