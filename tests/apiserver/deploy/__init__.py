"""What make deploy installs, judged by a real API server."""
