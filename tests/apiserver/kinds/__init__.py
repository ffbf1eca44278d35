"""What the kinds of this project refuse, judged by a real API server."""
