"""Clients of users who bring tokens: they share connections, and what is known of kinds.

Users come by the dozen, and each client with connections of its own took 0.1 MB.
"""

from __future__ import annotations

from rolecall.clock import Clock
from rolecall.kube.client import Client
from rolecall.kube.connections import Connections

_MOST_CONNECTIONS = 10  # no one follows anything on them


class TokenClients:
    def __init__(self, own: Client, clock: Clock) -> None:
        self._own, self._clock = own, clock
        # Never those of our own client: where it logs in with a certificate, they are the engine.
        self._connections = Connections(limit=_MOST_CONNECTIONS)

    def of(self, token: str) -> Client:
        """For the same API server, as the user of this token and with nothing of our own login."""
        credentials = self._own.credentials.with_token(token)
        client = Client(credentials, clock=self._clock, connections=self._connections)
        client.discovery = self._own.discovery
        return client

    async def close(self) -> None:
        await self._connections.close()
