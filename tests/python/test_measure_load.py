"""The connections that fill a link in `airtcp measure`."""

import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from airtcp.measure import wire
from airtcp.measure.bounds import Budget
from airtcp.measure.load import Load, Way
from airtcp.measure.peer import Peer
from airtcp.measure.phase import loaded
from airtcp.measure.probes import Session
from airtcp.measure.wire import Writes


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A peer on loopback; it is closed afterwards."""
    found = Peer("127.0.0.1", 0)
    serving = threading.Thread(target=found.serve)
    serving.start()
    yield found
    found.close()
    serving.join()


class Refusing(Load):
    """A load that opens the first connections only; the link drops the packets of the others."""

    opens = 1

    def _open(self) -> socket.socket:
        if len(self._threads) > self.opens:
            raise TimeoutError("timed out")
        return super()._open()


def test_a_full_link_that_opens_no_further_connection_is_measured(peer: Peer) -> None:
    """A queue that drops a quarter of the packets drops three SYN-ACKs in a row now and then."""
    load = Refusing(("127.0.0.1", peer.port), Way.DOWN, Budget(1 << 40), 60.0)
    load.add()
    waiting = threading.Event()
    while not load.bytes:
        waiting.wait(0.01)
    load.add()
    load._threads[-1].join()
    assert load.error is None
    assert load.connections == 1
    load.end()


def test_a_link_that_opens_none_is_an_error(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Refusing, "opens", 0)
    monkeypatch.setattr(
        Session, "load", lambda self, way, budget, s: Refusing(self.address, way, budget, s)
    )
    session = Session(("127.0.0.1", peer.port))
    with pytest.raises(TimeoutError, match="timed out"):
        loaded(session, Way.UP, Budget(1 << 30), 30.0, lambda share, words: None)
    session.close()


def test_writes_grow_while_the_socket_runs_out_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """BBR stays in its startup while samples are limited by the application."""
    at, left = [100.0], [0]
    monkeypatch.setattr(wire.time, "monotonic", lambda: at[0])
    monkeypatch.setattr(wire, "unsent", lambda connection: left[0])
    with socket.socket() as connection:
        writes = Writes(connection)

        def frames_after(seconds: float) -> int:
            """At 80 Mbit/s, written in pieces of 100 ms."""
            for _ in range(round(10 * seconds)):
                at[0] += 0.1001
                writes.wrote(1_000_000)
            return writes.frames

        # 10 MB/s for 3 ms, and for 24 ms.
        left[0] = 2_000_000
        assert frames_after(0.1) == 7
        left[0] = 1000
        assert frames_after(1) == 59
        left[0] = 2_000_000
        assert frames_after(0.9) == 59
        assert frames_after(2) == 7


def test_unsent_bytes_are_known_on_linux() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as connection,
    ):
        assert wire.unsent(connection) == (0 if sys.platform == "linux" else None)
    assert wire.unsent(connection) is None
