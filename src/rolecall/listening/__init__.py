"""How anything of ours listens: bind addresses, TLS, and what a client may take before it logged in."""

from rolecall.listening.address import Address, is_loopback, parse_address
from rolecall.listening.limits import HttpLimits, LimitedListener, bound_sockets
from rolecall.listening.port_holder import PortHolder, holder_of_port, port_error
from rolecall.listening.server import served
from rolecall.listening.tls import tls_for_server

__all__ = [
    "Address",
    "HttpLimits",
    "LimitedListener",
    "PortHolder",
    "bound_sockets",
    "holder_of_port",
    "is_loopback",
    "parse_address",
    "port_error",
    "served",
    "tls_for_server",
]
