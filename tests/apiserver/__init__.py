"""What only a real API server can say yes or no to."""
