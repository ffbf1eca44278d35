"""What changes for roles and playbooks from ansible-core 2.18 to 2.19 (`docs/guides/migrate.md`)."""

from rolecall_dev.checks.porting.check import check_porting

__all__ = ["check_porting"]
