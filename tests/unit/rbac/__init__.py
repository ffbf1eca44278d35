"""The least rights of a project."""
