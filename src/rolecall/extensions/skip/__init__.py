"""Whether a run is needed: none is where nothing that the last one depended on changed."""

from rolecall.extensions.skip.current_reads import CurrentReads
from rolecall.extensions.skip.keys import SkipUnchanged
from rolecall.extensions.skip.project_digest import ProjectDigests
from rolecall.extensions.skip.skips import SkipFacts, SkipParts, Skips
from rolecall.extensions.skip.stores import ConfigMapStore, FileStore, PartStore

__all__ = [
    "ConfigMapStore",
    "CurrentReads",
    "FileStore",
    "PartStore",
    "ProjectDigests",
    "SkipFacts",
    "SkipParts",
    "SkipUnchanged",
    "Skips",
]
