"""An error about a busy port names the process that holds it, and the flag that chooses another."""

from __future__ import annotations

import os
import socket

import pytest
from aiohttp import web

from rolecall.errors import InputError
from rolecall.listening import Address, PortHolder, holder_of_port, served


async def test_error_about_a_busy_port_names_the_flag_and_the_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        address = Address("127.0.0.1", busy.getsockname()[1])
        with pytest.raises(InputError) as raised:
            async with served(
                web.Application(), address, what="metrics", flag="metrics-bind-address"
            ):
                pass
    start = (
        f"could not serve metrics on port {address.port} (--metrics-bind-address): busy, held by"
    )
    assert raised.value.message.startswith(f"{start} process {os.getpid()}: ")
    way_out = "stop that process, or choose another port with `--metrics-bind-address`"
    assert raised.value.hint == way_out


def test_port_without_a_listener_has_no_holder() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert holder_of_port(bound.getsockname()[1]) is None


@pytest.mark.parametrize(
    ("command", "is_operator"),
    [
        ("/venv/bin/python /venv/bin/rolecall run --dev", True),
        ("rolecall run", True),
        ("rolecall page", False),
        ("python -m http.server", False),
    ],
)
def test_holder_that_is_an_operator_is_known_by_its_command(
    command: str, is_operator: bool
) -> None:
    assert PortHolder(7, command).is_operator is is_operator


def test_operator_that_holds_a_port_is_named_by_its_folder() -> None:
    holder = PortHolder(7, "rolecall run --dev", "/home/ann/two")
    assert str(holder) == "the operator of /home/ann/two (process 7)"


def test_command_that_holds_a_port_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in str(PortHolder(7, "nc \x1b[2J"))
