"""Which cluster a command works on; said first, since a forgotten kubeconfig leads elsewhere."""

from __future__ import annotations

from rolecall.cli.terminal import say
from rolecall.kube import Credentials


def say_cluster(credentials: Credentials) -> None:
    """On stderr: stdout is for whoever reads what the command found."""
    say(f"cluster: {credentials.target}")
