"""Files that hold one case, so that it can be tried again: by `rolecall test --replay FILE`."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall_dev.proving.model import Case

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Replay:
    """The sample's file, which CR of it, and the case."""

    sample: str
    case: Case

    def write(self, folder: Path, number: int) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        # Results of one test belong into no commit.
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        words = _NOT_IN_NAMES.sub("-", f"{self.case.check}-{self.case.told}".lower())
        path = folder / f"{number:02}-{words[:_LONGEST].strip('-')}.json"
        document = {"sample": self.sample, "case": asdict(self.case)}
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def read_replay(path: Path) -> Replay:
    try:
        document: Json = json.loads(path.read_text(encoding="utf-8"))
        return Replay(str(document["sample"]), Case(**document["case"]))
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: is no case that can be tried again: {error}",
            hint="`rolecall test` writes one for each finding, and names it",
        ) from error
