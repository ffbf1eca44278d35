"""The warm host: a process that has everything imported and forks one child for each run.

Started by the engine as a script, `host/__main__.py DESCRIPTOR FOLDER [MARK...]`; never imported by it.
"""
