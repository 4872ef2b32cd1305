"""A congestion control in Python: a class, with an instance for each connection."""

from collections.abc import Callable
from typing import ClassVar, Protocol

from airtcp._core import Socket


class SupportsControl(Protocol):
    """The methods that a control must have; `Control` has the optional ones, too."""

    def on_ack(self, socket: Socket, /) -> None:
        """Segments were acknowledged."""

    def on_loss(self, socket: Socket, /) -> float:
        """The window after a loss, in segments."""
        ...


class Control:
    """A congestion control that does what Reno does, to derive classes from.

    Every connection of every run gets a new instance, made without arguments, so that state
    is kept in attributes. Windows are in full segments and may have fractions; times are in
    seconds, rates in bit/s. Draw random numbers from a `random.Random` with a fixed seed: a run is
    then the same every time.

    >>> import airtcp
    >>> class Gentle(airtcp.Control):
    ...     def on_loss(self, socket: airtcp.Socket) -> float:
    ...         return socket.cwnd * 0.8
    >>> run = airtcp.run("lossy-pipe", settings={"duration": "2s"}, control=Gentle)
    >>> run.summary["remedies"]
    ['python:Gentle']
    """

    paces: ClassVar[bool] = False
    """Whether the control sets window and `socket.pacing_bps` itself, at every acknowledgment, also
    during repairs (Linux, `cong_control`). A loss then changes only the threshold."""

    def on_start(self, socket: Socket, /) -> None:
        """The connection is established; `socket.cwnd` is the initial window."""

    def on_ack(self, socket: Socket, /) -> None:
        """`socket.acked` segments were acknowledged: sets `socket.cwnd`.

        Without `paces` it is not called while losses are repaired: the window is then reduced to
        what `on_loss` returned (RFC 6937).
        """
        if not socket.is_window_limited:
            return
        if socket.cwnd < socket.ssthresh:
            socket.cwnd += socket.acked  # RFC 5681 §3.1, eq. 2
        else:
            socket.cwnd += socket.acked / max(socket.cwnd, 1)  # eq. 3

    def on_loss(self, socket: Socket, /) -> float:
        """The window to continue with after a loss or a congestion mark, in segments."""
        return max(socket.cwnd / 2, 2)  # RFC 5681 §3.1, eq. 4

    def on_timeout(self, socket: Socket, /) -> float:
        """The slow-start threshold after a timeout, in segments; the window is one segment."""
        return self.on_loss(socket)

    def on_undo(self, socket: Socket, /) -> float:
        """The window, in segments, when the last reduction turned out to be needless."""
        return max(socket.cwnd, socket.prior_cwnd)


Factory = Callable[..., SupportsControl]
"""Makes a control: a class, or `functools.partial` of one with values for its parameters."""
