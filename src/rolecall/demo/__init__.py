"""Shows a project's operator at work: a control plane, the engine, the samples, a live table.

For any project folder with a `watches.yaml`, CRDs and samples, not only ours. The room knows what is
to be seen; `cli/demo.py` prints it.
"""

from rolecall.demo.project import Project, Sample, find_project
from rolecall.demo.scene import Row, Scene
from rolecall.demo.stage import Stage
from rolecall.demo.table import table_of

__all__ = ["Project", "Row", "Sample", "Scene", "Stage", "find_project", "table_of"]
