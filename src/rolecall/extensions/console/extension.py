"""Serves the control socket, and the page where `--page-bind-address` asks for it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from rolecall.errors import InputError
from rolecall.extending import (
    BackgroundPart,
    BindAddress,
    EndedTurn,
    Endpoints,
    EnginePorts,
    EngineView,
    Extension,
)
from rolecall.extensions.console.control import served_control
from rolecall.extensions.console.flags import PageFlags
from rolecall.kube import TokenClients
from rolecall.listening import (
    Address,
    HttpLimits,
    is_loopback,
    parse_address,
    served,
    tls_for_server,
)
from rolecall.log_fields import log_fields
from rolecall.record import RequestsSoFar
from rolecall.settings import Settings
from rolecall.watches import Watch
from rolecall.workqueue import Key

if TYPE_CHECKING:
    from rolecall.extensions.console.page import OperatorPage

_logger = logging.getLogger(__name__)
_BIND_FLAG = "page-bind-address"
_LIMITS = HttpLimits(connections=320)  # a browser opens six; for fifty readers


class ConsoleExtension(Extension):
    name = "console"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._flags = engine.settings.extension(PageFlags)
        self._page: OperatorPage | None = None

    @classmethod
    def addresses(cls, settings: Settings, watches: Sequence[Watch]) -> Sequence[BindAddress]:  # noqa: ARG003 - it is there with or without kinds
        return [BindAddress("page", settings.extension(PageFlags).bind, _BIND_FLAG)]

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        engine, ports = self.engine, self.engine.inspected()
        address = parse_address(self._flags.bind, _BIND_FLAG)
        async with AsyncExitStack() as stack:
            if address is not None:
                where = await stack.enter_async_context(self._served(address, endpoints, ports))
            else:
                where = ""
            root = engine.settings.runner.root
            control = served_control(root, ports, engine.last_runs, page=where)
            await stack.enter_async_context(control)
            yield

    def parts(self) -> Mapping[str, BackgroundPart]:
        page = self._page
        return {} if page is None else {"table": page.run, "trends": page.run_trends}

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        if self._page is not None:
            self._page.trends.turns_ended(turns)

    async def on_gone(self, key: Key) -> None:
        if self._page is not None:
            self._page.forget(key)

    def begin_end(self) -> None:
        if self._page is not None:
            self._page.cancel_plans()

    @asynccontextmanager
    async def _served(
        self, address: Address, endpoints: Endpoints, inspected: EnginePorts
    ) -> AsyncIterator[str]:
        """Yields where, with what lets one in where no user logs in."""
        # Takes 5 MB, and most engines serve none.
        from rolecall.extensions.console.page import (  # noqa: PLC0415
            CrPlanner,
            OperatorPage,
            PagePorts,
        )

        engine = self.engine
        flags, now = self._flags, engine.clock.now()
        is_here, is_local = is_loopback(address), flags.access == "local"
        if is_local and not is_here:
            raise InputError(
                f"--page-access=local: `{flags.bind}` can be reached from other machines",
                hint="bind it to 127.0.0.1, or let users log in: --page-access=cluster",
            )
        tls = None
        if not is_here:
            folder = flags.certificates
            tls = tls_for_server(now) if folder is None else tls_for_server(now, folder)
        token = secrets.token_urlsafe(24) if is_local else ""
        readers = TokenClients(engine.client, engine.clock)
        ports = PagePorts(
            engine=inspected,
            last_runs=engine.last_runs,
            root=engine.settings.runner.root,
            own=engine.client,
            client_as=readers.of,
            plan=CrPlanner(engine),
            requests_so_far=lambda key: engine.findings_in_flight(RequestsSoFar).get(key),
        )
        self._page = page = OperatorPage(ports, local_token=token, is_tls=tls is not None)
        listener = served(
            page.app(), address, what="the page", flag=_BIND_FLAG, tls=tls, limits=_LIMITS
        )
        async with listener as port:
            endpoints.ports["page"] = port
            scheme = "http" if tls is None else "https"
            where = f"{scheme}://{address.host or 'localhost'}:{port}/"
            entrance = f"{where}?token={token}" if token else where
            # Logs of a pod are read by others; there, `rolecall page` prints the token.
            shown = where if engine.settings.is_in_pod else entrance
            _logger.info("page to look at", extra=log_fields(address=shown))
            try:
                yield entrance
            finally:
                await readers.close()
