"""New projects and kinds."""
