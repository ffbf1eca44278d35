"""Rewrites the objects of a kind, so that all of them are stored at its newest version."""
