"""`rolecall page`: the page of this machine's engine, or of a cluster's with one's own login."""

from __future__ import annotations

import argparse
import asyncio
import os
import webbrowser
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from rolecall.cli.cluster import say_cluster
from rolecall.cli.engine_choice import Here, add_place, local_place
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.relay import check_pod
from rolecall.cli.terminal import say
from rolecall.clock import SystemClock
from rolecall.errors import ClusterError, InputError
from rolecall.extensions.console.commands.page_forwarder import Authorization, PageForwarder
from rolecall.extensions.console.page import PAGE_AUDIENCE
from rolecall.kube import Client, Credentials, Timeouts, join_pod_port, token_for
from rolecall.listening import is_loopback, parse_address
from rolecall.remote_engine import (
    EnginePod,
    Operator,
    PodChoice,
    choose_pod,
    find_operator,
    verify_pod,
)

_TIMEOUTS = Timeouts(connect_s=5.0, total_s=20.0)
_TOKEN_S = 3600
_EPILOG = """\
An engine of this machine says where its page is. One in a cluster is reached
through the API server, as `kubectl port-forward` does it, with what your
kubeconfig may see. With --service-account the pod gets a token that is good
for the page alone. Without, it gets the token of your kubeconfig, so name your
operator with --operator NAMESPACE/NAME; its pod must belong to its Deployment.
The address that is printed lets one browser in, until Ctrl-C ends it.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "page",
        show_page,
        "Opens the page of the operator of this machine, else of the one in the cluster"
        " of your kubeconfig.",
        examples={
            "rolecall page": "open the page in a browser",
            "rolecall page --no-open --port 8090": "print its address, on this port",
            "rolecall page --service-account prod/viewer": "look with this account's rights",
        },
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--service-account", metavar="NAMESPACE/NAME", default="", help="look with its rights"
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="PORT", help="of this machine (default: a free one)"
    )
    parser.add_argument("--no-open", action="store_true", help="only print the address")
    add_place(parser)


def show_page(arguments: argparse.Namespace) -> int:
    """Until Ctrl-C for one in a cluster."""
    here = None if arguments.service_account else local_place(arguments, os.environ)
    if here is not None:
        _open(_local_address(here), arguments)
    else:
        asyncio.run(_show(arguments, os.environ))
    return 0


def _local_address(here: Here) -> str:
    address = here.running().page()
    if not address:
        raise InputError(
            "the engine of this machine serves no page",
            hint="start it with --page-bind-address=127.0.0.1:8090 --page-access=local",
        )
    return address


def _open(address: str, arguments: argparse.Namespace) -> None:
    print(address, flush=True)
    if not arguments.no_open:
        webbrowser.open(address)


async def _show(arguments: argparse.Namespace, environ: Mapping[str, str]) -> None:
    credentials = Credentials.load(environ)
    async with Client(credentials, timeouts=_TIMEOUTS) as client:
        say_cluster(credentials)
        authorization = await _authorization(client, arguments.service_account)
        operator = await find_operator(client, arguments.operator or "")
        choice = await choose_pod(client, operator)
        pod = choice.pod
        if arguments.service_account:
            await check_pod(client, operator, pod)
        else:
            await _check_login_may_go(client, arguments.operator or "", operator, pod)
        say(f"engine of pod {operator.namespace}/{pod.name} {choice.why}{_others(choice)}")
        async with _reached(client, operator, pod) as there:
            forwarder = PageForwarder(there, authorization)
            async with forwarder.serving(arguments.port) as port:
                address = f"http://127.0.0.1:{port}{forwarder.entrance}"
                await asyncio.to_thread(_open, address, arguments)
                await asyncio.Event().wait()


async def _check_login_may_go(
    client: Client, named: str, operator: Operator, pod: EnginePod
) -> None:
    """Raises if a login, with all rights of its user, would go to a pod of an unknown owner."""
    if named != str(operator):
        raise InputError(
            f"this would send your login to pod `{operator.namespace}/{pod.name}`, which was found"
            f" by a label that any pod can have",
            hint=f"if that is your operator, name it: --operator {operator}; better, look with a"
            " token that is good for the page alone: --service-account NAMESPACE/NAME",
        )
    account = await verify_pod(client, operator, pod)
    say(f"your login goes to pod {operator.namespace}/{pod.name}, which runs as {account}")


def _others(choice: PodChoice) -> str:
    """A page shows what its replica knows."""
    others = len(choice.dividing) - 1
    return f"; {others} more have the rest, and pages of their own" if others > 0 else ""


async def _authorization(client: Client, account: str) -> Authorization:
    """What to say who looks; raises `InputError` where nothing can be said."""
    if account:
        namespace, slash, name = account.partition("/")
        if not slash or not namespace or not name:
            raise InputError(f"`{account}` is not NAMESPACE/NAME of a ServiceAccount")
        return await _account_authorization(client, (namespace, name))

    async def own() -> str:
        return (await client.credentials.current()).headers.get("Authorization", "")

    if not (await own()).startswith("Bearer "):
        raise InputError(
            "your kubeconfig logs in without a token, so your login cannot be forwarded",
            hint="look as a ServiceAccount: --service-account NAMESPACE/NAME",
        )
    return own


async def _account_authorization(client: Client, account: tuple[str, str]) -> Authorization:
    clock = SystemClock()
    token, until = "", 0.0

    async def of_account() -> str:
        nonlocal token, until
        if clock.monotonic() >= until:
            token = await token_for(client, *account, _TOKEN_S, PAGE_AUDIENCE)
            until = clock.monotonic() + _TOKEN_S * 0.8
        return f"Bearer {token}"

    await of_account()
    return of_account


@asynccontextmanager
async def _reached(client: Client, operator: Operator, pod: EnginePod) -> AsyncIterator[str]:
    """Where the page of the pod answers on this machine."""
    address = parse_address(pod.page, "page-bind-address")
    if address is None:
        raise ClusterError(
            f"the operator `{operator}` serves no page",
            hint="start it with --page-bind-address=:8090",
        )
    place = (operator.namespace, pod.name, address.port)

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await join_pod_port(client, place, reader, writer)
        except ClusterError as failure:
            say(str(failure))
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    scheme = "http" if is_loopback(address) else "https"
    server = await asyncio.start_server(join, "127.0.0.1", 0)
    async with server:
        yield f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
