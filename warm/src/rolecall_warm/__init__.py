"""The warm host: a process that has Ansible loaded and forks one child for each run.

Started by the engine as a program, and never imported by it; `rolecall_base.wire` is how the two talk.
"""
