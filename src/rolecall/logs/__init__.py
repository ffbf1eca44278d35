"""How the engine speaks: its own log on stderr, and what plays say on stdout.

Any room logs through `logging.getLogger(__name__)` with a constant lower-case message; what varies goes
into fields, `extra={"fields": {"kind": ..., "name": ...}}`, or straight into `extra`.
"""

from rolecall.logs.formats import JsonFormatter, PeopleFormatter
from rolecall.logs.play_log import PrintedPlays
from rolecall.logs.set_up import set_up_logs

__all__ = ["JsonFormatter", "PeopleFormatter", "PrintedPlays", "set_up_logs"]
