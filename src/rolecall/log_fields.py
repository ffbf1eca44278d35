"""What a log line says beside its message: `_logger.info("listening", extra=log_fields(port=8443))`.

They stay together in the record, for the logging library takes no `name` and no `module` in `extra`.
"""

from __future__ import annotations


def log_fields(**values: object) -> dict[str, dict[str, object]]:
    return {"fields": values}
