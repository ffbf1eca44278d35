"""Which nightly tests are worth their time for a commit, by the rooms that it touches."""
