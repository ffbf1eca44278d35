"""OLM bundles and catalogs."""
