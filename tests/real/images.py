"""Two versions of our operator's image, built as the guide says, without a registry.

The second is built as other people's operators are: from the engine's image, with roles copied in.
Its roles differ from ours in one word of a message, so that a status shows which version wrote it.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tools.image_archive import Builder

from rolecall_dev.localcluster import REGISTRY, default_cache

ROOT = Path(__file__).parents[2]
ENGINE = f"{REGISTRY}/rolecall-engine:v1"
FIRST = f"{REGISTRY}/rolecall:v1"
SECOND = f"{REGISTRY}/rolecall:v2"
# What Mapping says in the condition Ready.
FIRST_WORDS, SECOND_WORDS = "is announced as going to", "is announced by v2 as going to"

_DOCKERFILE = """\
FROM {engine}
COPY watches.yaml ${{HOME}}/watches.yaml
COPY roles/ ${{HOME}}/roles/
COPY playbooks/ ${{HOME}}/playbooks/
COPY handlers/ ${{HOME}}/handlers/
RUN rolecall run --validate
"""


def build_first(builder: Builder, folder: Path) -> Path:
    """Our operator; the archive."""
    builder.make_image(FIRST)
    return builder.write(FIRST, folder / "first.tar")


def build_second(builder: Builder, folder: Path) -> Path:
    """The version that follows; the archive."""
    build_engine(builder)
    project = folder / "project"
    for part in ("roles", "playbooks", "handlers"):
        shutil.copytree(ROOT / part, project / part)
    shutil.copy(ROOT / "watches.yaml", project)
    report = project / "roles" / "mapping" / "tasks" / "report.yml"
    text = report.read_text()
    assert FIRST_WORDS in text
    report.write_text(text.replace(FIRST_WORDS, SECOND_WORDS))
    (project / "Dockerfile").write_text(_DOCKERFILE.format(engine=ENGINE))
    builder.build(project, SECOND)
    return builder.write(SECOND, folder / "second.tar")


def build_engine(builder: Builder) -> None:
    """What other operators are built upon."""
    builder.make_image(ENGINE, "TARGET=engine")


def a_builder() -> Builder:
    """With what was built before."""
    return Builder(default_cache() / "images")


def renamed(archive: Path, names: Sequence[str], target: Path) -> Path:
    """The same image under other names, as a new archive."""
    with tarfile.open(archive) as old, tarfile.open(target, "w") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None, "an archive of ours has files only"
            data = content.read()
            if member.name == "manifest.json":
                (image,) = json.loads(data)
                data = json.dumps([image | {"RepoTags": list(names)}]).encode()
                member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return target
