"""The modules of operator_sdk.util, against a real API server."""
