"""The certificate of the metrics endpoint: one that was mounted, or one made up for this process.

A made-up one proves nothing to the scraper, but tokens do not travel in clear.
"""

from __future__ import annotations

import ssl
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from rolecall.certificates import Holder, PemPair, issue, refuse_password, server_tls, show
from rolecall.errors import InputError

# Where the Go operator's metrics server looks; people mount cert-manager's files there.
MOUNTED = Path(tempfile.gettempdir()) / "k8s-metrics-server" / "serving-certs"
_LIFE = timedelta(days=3650)  # as long as the process at most


def tls_for_server(now: datetime, mounted: Path = MOUNTED) -> ssl.SSLContext:
    """Everything that a server needs to speak HTTPS; raises `InputError` for files that do not fit."""
    context = server_tls()
    certificate, key = mounted / "tls.crt", mounted / "tls.key"
    if not (certificate.is_file() and key.is_file()):
        show(context, self_signed(now))
        return context
    try:
        context.load_cert_chain(certificate, key, password=refuse_password)
    except (OSError, ValueError) as failure:
        why = getattr(failure, "reason", None) or str(failure)
        raise InputError(
            f"could not serve with `{certificate}` and `{key.name}`: {why}",
            hint="mount a certificate and its key in PEM, or neither to get a self-signed one",
        ) from failure
    return context


def self_signed(now: datetime) -> PemPair:
    return issue(Holder("localhost", hosts=("localhost",)), now, _LIFE)
