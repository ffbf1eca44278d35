"""rolecall: runs Kubernetes operators written in Ansible."""

__version__ = "0.1.0"
