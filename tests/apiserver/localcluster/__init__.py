"""The local cluster, as its users see it."""
