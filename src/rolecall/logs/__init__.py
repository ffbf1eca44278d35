"""The engine's own log on stderr, and what plays print on stdout.

Any room logs through `logging.getLogger(__name__)` with a constant lower-case message; what varies goes
into `extra=log_fields(kind=..., name=...)`.
"""

from rolecall.logs.formats import JsonFormatter, PeopleFormatter, fields_of
from rolecall.logs.play_log import PrintedPlays
from rolecall.logs.porting import BrokenConditionals
from rolecall.logs.set_up import set_up_logs

__all__ = [
    "BrokenConditionals",
    "JsonFormatter",
    "PeopleFormatter",
    "PrintedPlays",
    "fields_of",
    "set_up_logs",
]
