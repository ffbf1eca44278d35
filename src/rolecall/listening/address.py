"""Bind addresses in Go's spelling: `:8443`, `127.0.0.1:8443`, `[::1]:0`, and `0` for none."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from rolecall.errors import InputError


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; no host means every interface, port 0 any free one."""

    host: str | None
    port: int


def is_loopback(address: Address) -> bool:
    """Whether only this machine reaches it."""
    if address.host == "localhost":
        return True
    try:
        return address.host is not None and ip_address(address.host).is_loopback
    except ValueError:
        return False


def parse_address(text: str, flag: str) -> Address | None:
    """Read a bind address; None where nothing is to be served."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise InputError(
            f"--{flag}: `{text}` is not an address; use `:8443`, `127.0.0.1:8443`, or `0` for none"
        )
    return Address(host.strip("[]") or None, int(port))
