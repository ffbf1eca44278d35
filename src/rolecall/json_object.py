"""`Json`: an object as the API server and Ansible speak it, not yet read into anything stricter."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
