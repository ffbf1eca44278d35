"""Tries again at once what failed in a role or playbook that a person mended."""

from rolecall.extensions.changed_files.changed_files import ChangedFiles

__all__ = ["ChangedFiles"]
