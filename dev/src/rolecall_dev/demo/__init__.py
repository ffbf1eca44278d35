"""Shows a project's operator at work: a control plane, the engine, the samples, a live table.

For any project folder with a `watches.yaml`, CRDs and samples, not only ours. The room knows what is
to be seen; `cli/demo.py` prints it.
"""

from rolecall_dev.demo.live_rows import LiveRows, Row, table_of
from rolecall_dev.demo.project import DemoProject, find_project
from rolecall_dev.demo.running import RunningDemo

__all__ = ["DemoProject", "LiveRows", "Row", "RunningDemo", "find_project", "table_of"]
