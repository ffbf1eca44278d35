"""One module for each command that looks at a running operator, or acts on it."""
