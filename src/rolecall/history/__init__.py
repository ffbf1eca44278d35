"""What the runs of a CR came to, read from the artifacts that they left; nothing here needs an engine.

for root in roots_of(artifacts_dir):          # one for each cluster whose engines ran here
    for cr in kept_crs(root, kind="Website", name="blog"):
        runs = cr.runs()                      # newest first
        runs[0].outcome, runs[0].cause, runs[0].stdout
        with_id(runs, "4711")                 # by its id, or the beginning of it
"""

from rolecall.history.artifacts import read_run
from rolecall.history.crs import KeptCr, each_kept_cr, kept_cr, kept_crs, roots_of, with_id
from rolecall.history.processes import this_process
from rolecall.history.run import LOST, RUN_FILE, FailedTask, KeptRun, Process, write_run
from rolecall.history.spec import SPEC_FILE, read_spec, write_spec

__all__ = [
    "LOST",
    "RUN_FILE",
    "SPEC_FILE",
    "FailedTask",
    "KeptCr",
    "KeptRun",
    "Process",
    "each_kept_cr",
    "kept_cr",
    "kept_crs",
    "read_run",
    "read_spec",
    "roots_of",
    "this_process",
    "with_id",
    "write_run",
    "write_spec",
]
