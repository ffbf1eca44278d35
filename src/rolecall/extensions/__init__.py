"""Features beside the core, one folder for each; the core imports none of them.

The entry point group `rolecall.extensions` names their classes, as it names those of other packages.
"""
