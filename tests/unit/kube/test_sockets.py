"""What an open connection costs: an engine has one for each kind and namespace, for ever."""

from __future__ import annotations

from asyncio.sslproto import SSLProtocol

import rolecall.kube  # noqa: F401 - what is tested is that it was imported


def test_two_hundred_streams_over_tls_do_not_take_fifty_megabytes_for_buffers() -> None:
    assert SSLProtocol.max_size <= 32 * 1024
