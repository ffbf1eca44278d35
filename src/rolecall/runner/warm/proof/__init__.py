"""Runs plays both ways and compares them: how a host proves that it does what ansible-core does."""
