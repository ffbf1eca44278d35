"""Answers what the API server asks over webhooks, with a certificate that it trusts."""
