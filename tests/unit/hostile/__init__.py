"""Hostile input: what comes from outside must not crash, hang, leak, or mean something else inside.

Promise: for each entry point (`entries/`) there is a generator of cases, which knows the structure of
what it makes, and an oracle, which says what may come of a case: which refusals are allowed, within how
many CPU seconds, and what must hold of what is accepted, where possible by a second reader that shares
no code with ours. A case is a JSON value, so that each can be kept (`corpus/`), made smaller, and tried
again. `make test` tries thousands, of the same seed each time, and all of the corpus;
`make hostile CASES=1000000 SEED=7` as many as wanted, in processes.

The hard part is to let nothing through silently that only *looks* like a refusal. So refusals are named
by class, and each entry point also counts how many of its cases were accepted: a generator whose cases
are all refused tests nothing, and fails.

Rejected: hypothesis. What it would give is its search for small examples, which takes forty lines here
(`shrinking.py`); its price is a dependency, a database of examples beside our corpus, and cases that
cannot be named by a seed and a number. Rejected, too: a coverage-guided fuzzer, since most of what can
go wrong here is a wrong meaning, not a new branch.
"""
