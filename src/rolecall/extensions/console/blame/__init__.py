"""Who wrote each field of a live object last: a task of a run, or else a field manager.

fields = live_fields_of(document)                        # with the managers that own each
writes = writes_of(record, cr, target)              # of each kept run, by its record
blamed = blame(fields, newest_first)                # a `Blamed` for each field
"""

from rolecall.extensions.console.blame.fields import LiveField, count_fields, live_fields_of
from rolecall.extensions.console.blame.kept_writes import FoundWrites
from rolecall.extensions.console.blame.lines import value_text, who, yaml_lines
from rolecall.extensions.console.blame.managers import ManagedEntry
from rolecall.extensions.console.blame.owners import CrName, crs_behind
from rolecall.extensions.console.blame.verdict import Blamed, blame
from rolecall.extensions.console.blame.writes import BlamedObject, Write, writes_of

__all__ = [
    "Blamed",
    "BlamedObject",
    "CrName",
    "FoundWrites",
    "LiveField",
    "ManagedEntry",
    "Write",
    "blame",
    "count_fields",
    "crs_behind",
    "live_fields_of",
    "value_text",
    "who",
    "writes_of",
    "yaml_lines",
]
