"""What developers of an operator need and its pod does not: projects, checks, bundles, clusters."""
