"""Each check tries one way to disturb an operator; a module has its cases and what is right in them."""

from rolecall_dev.proving.checks.at_rest import AT_REST
from rolecall_dev.proving.checks.deletion import DELETION_CHECK
from rolecall_dev.proving.checks.drift import DRIFT
from rolecall_dev.proving.checks.edits import EDITS
from rolecall_dev.proving.checks.errors import ERRORS
from rolecall_dev.proving.checks.killed import KILLED
from rolecall_dev.proving.checks.neighbours import NEIGHBOURS
from rolecall_dev.proving.checks.rights import RIGHTS
from rolecall_dev.proving.checks.upgrade import UPGRADE
from rolecall_dev.proving.model import OperatorCheck

CHECKS: dict[str, OperatorCheck] = {
    check.name: check
    for check in (
        AT_REST,
        DRIFT,
        ERRORS,
        KILLED,
        DELETION_CHECK,
        EDITS,
        RIGHTS,
        NEIGHBOURS,
        UPGRADE,
    )
}

__all__ = ["CHECKS"]
