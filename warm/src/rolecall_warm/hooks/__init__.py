"""What stands in front of ansible-core, and nothing else does: see `seams`, docs/concepts/warm.md."""
