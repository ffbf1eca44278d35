"""What breaks between releases of ansible-core, and what a project says of its variables."""

from rolecall_dev.checks.porting.check import check_porting, variables_of
from rolecall_dev.checks.porting.templates import template_environment
from rolecall_dev.checks.porting.variables import Variables

__all__ = ["Variables", "check_porting", "template_environment", "variables_of"]
