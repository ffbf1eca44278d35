"""The OLM bundle, judged by a real API server."""
