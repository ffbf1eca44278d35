"""The rules of the local cluster that need no cluster."""
