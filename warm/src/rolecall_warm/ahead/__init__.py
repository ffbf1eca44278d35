"""What a host does ahead of a run: all that every run would do again, and that is the same for each.

For which run: the next one of this host, of whatever CR and watch. So nothing that a run was given is
part of it, and a play is never begun before its order comes. `warm_up` is the way in:

1. Before it serves, the host imports what most plays use (`imports`), and makes what Ansible makes at
   first use (`first_uses`): half a second of each new `ansible-playbook`.
2. While nothing runs, it takes its steps, each of which finds out what was still missing, and makes it:
   a play in a fork reports it, once (`practice`); roles that ran have files to parse and templates to
   compile (`role_files`); runs noted what they had to import (`noted_imports`).
3. Then it forks the process of the next run (`spare`), which copies the memory that every play writes
   to (`pages`), a third of a short play's time.

What it throws away when it was wrong: what is parsed is taken only where the text is the same; what
Ansible remembers of plugins and settings is put back whenever something was made
(`NewProcess.be_as_new`); an import that does harm is refused for good; a spare process that is not
ready is ended, and the run forked; and a host whose files changed is replaced. So a step that fails
costs speed, not a run.

Rejected: a spare process for each watch, which has begun the next play of it. A play's inventory, play
and variables lie in its CR's own folder, so what a process has read is right for one CR of many; and
one that has played, if only for practice, is no new process: its vault, options and display say so.
"""
