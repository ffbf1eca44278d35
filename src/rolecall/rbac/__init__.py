"""The least rights that a project needs: read from its roles and from records of what plays asked."""

from rolecall.rbac.granted import Difference, compare
from rolecall.rbac.needs import Derived, Sources, derive, made_by
from rolecall.rbac.role_file import render_role

__all__ = ["Derived", "Difference", "Sources", "compare", "derive", "made_by", "render_role"]
