"""How anything of ours listens: bind addresses, TLS, and what a client may take before it logged in."""

from rolecall.listening.address import Address, is_loopback, parse_address
from rolecall.listening.limits import HttpLimits, LimitedListener, bound_sockets
from rolecall.listening.server import served
from rolecall.listening.tls import tls_for_server

__all__ = [
    "Address",
    "HttpLimits",
    "LimitedListener",
    "bound_sockets",
    "is_loopback",
    "parse_address",
    "served",
    "tls_for_server",
]
