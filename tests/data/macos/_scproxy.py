"""What `urllib.request` of macOS asks for proxies: here are none."""

from __future__ import annotations


def _get_proxy_settings() -> dict[str, object]:
    return {}


def _get_proxies() -> dict[str, str]:
    return {}
