"""Messages arrive whole, in order, with the descriptors that were sent along."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from rolecall_base import wire


def test_message_arrives_with_its_descriptors() -> None:
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    with ours, theirs:
        wire.send(ours, {"op": "run"}, [write_end])
        os.close(write_end)
        received = wire.receive(theirs)
    assert received is not None
    message, (fd,) = received
    os.write(fd, b"through")
    os.close(fd)
    assert message == {"op": "run"}
    assert os.read(read_end, 100) == b"through"
    os.close(read_end)


def test_messages_longer_than_any_buffer_arrive_whole() -> None:
    ours, theirs = socket.socketpair()
    long = {"env": "x" * 3_000_000}
    with ours, theirs:
        sender = threading.Thread(target=wire.send, args=(ours, long))
        sender.start()
        assert wire.receive(theirs) == (long, [])
        sender.join()
        wire.send(ours, {"op": "next"})
        assert wire.receive(theirs) == ({"op": "next"}, [])


def test_end_of_conversation_is_no_error_but_half_a_message_is() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        assert wire.receive(theirs) is None
    ours, theirs = socket.socketpair()
    with theirs:
        ours.sendall(b"\0\0\0\x09{")
        ours.close()
        with pytest.raises(wire.WireError):
            wire.receive(theirs)


def test_nonsense_is_refused() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"\xff\xff\xff\xff")
        with pytest.raises(wire.WireError):
            wire.receive(theirs)


def test_report_channel_ends_with_its_last_writer() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        wire.report(ours, {"r": "begin"})
        wire.report(ours, {"r": "end"})
        ours.close()
        assert wire.read_report(theirs) == ({"r": "begin"}, [])
        assert wire.read_report(theirs) == ({"r": "end"}, [])
        assert wire.read_report(theirs) is None


def test_reports_of_a_run_that_left_its_answer_unread_are_read_to_the_last() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        wire.report(theirs, {"r": "wants", "number": 1})
        ours.send(b"1")
        wire.report(theirs, {"r": "end", "rc": 0})
        theirs.close()
        assert wire.read_report(ours) == ({"r": "wants", "number": 1}, [])
        assert wire.read_report(ours) == ({"r": "end", "rc": 0}, [])
        assert wire.read_report(ours) is None
