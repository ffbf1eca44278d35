"""What a test needs around an operator: a cluster, a proxy that can fail, the engine as a process."""

from rolecall_dev.staging.stage import Stage

__all__ = ["Stage"]
