"""Tests, by tier: `unit`, `play`, `apiserver`, `e2e`. The folder decides which tools a test may use."""
