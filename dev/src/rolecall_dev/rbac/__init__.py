"""The least rights that a project needs: read from its roles and from records of what plays asked."""

from rolecall_dev.rbac.granted import (
    compare,
    granted_rights,
    is_granted,
)
from rolecall_dev.rbac.needs import Derived, RightsSources, derive, made_by
from rolecall_dev.rbac.rights import Right, warnings_of
from rolecall_dev.rbac.role_file import (
    STORE_FILE,
    account_in,
    render_cluster_role,
    render_role,
    render_store_role,
)

__all__ = [
    "STORE_FILE",
    "Derived",
    "Right",
    "RightsSources",
    "account_in",
    "compare",
    "derive",
    "granted_rights",
    "is_granted",
    "made_by",
    "render_cluster_role",
    "render_role",
    "render_store_role",
    "warnings_of",
]
