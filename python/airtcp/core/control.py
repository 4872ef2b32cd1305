"""A congestion control in Python: a class, one instance of which decides for each connection."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Protocol

from airtcp import _core
from airtcp._core import ScenarioError, Socket

PREFIX = "python:"
"""The word before the class's name in a remedy: `python:MyControl`."""


class SupportsControl(Protocol):
    """The methods that a control must have; `Control` has the optional ones, too."""

    def on_ack(self, socket: Socket, /) -> None:
        """Segments were acknowledged."""

    def on_loss(self, socket: Socket, /) -> float:
        """The window after a loss, in segments."""
        ...


class Control:
    """A congestion control that does what Reno does, to derive one's own from.

    Every connection of every run gets an instance of its own, made without arguments, so that state
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
            socket.cwnd += socket.acked / socket.cwnd  # eq. 3

    def on_loss(self, socket: Socket, /) -> float:
        """The window to continue with after a loss or a congestion mark, in segments."""
        return max(socket.cwnd / 2, 2)  # RFC 5681 §3.1, eq. 4

    def on_timeout(self, socket: Socket, /) -> float:
        """The slow-start threshold after a timeout, in segments; the window is one segment."""
        return self.on_loss(socket)

    def on_undo(self, socket: Socket, /) -> float:
        """The window, in segments, when the last reduction turned out to be needless."""
        return max(socket.cwnd, socket.prior_cwnd)


Factory = Callable[[], SupportsControl]
"""Makes a control: a class, or `functools.partial` of one with values for its parameters."""

_REMEDIES: list[tuple[object, str]] = []
"""Every factory that was registered, and the name of its remedy."""


def remedy(control: Factory) -> str:
    """The remedy of a class of controls; the same class is the same remedy.

    Raises:
        ScenarioError: it is no such class; names the missing parts.
    """
    for known, name in _REMEDIES:
        if known is control or _is_same_partial(known, control):
            return name
    title = _title(control)
    if not callable(control):
        raise ScenarioError(
            f"control = {control!r:.60}: expected a class, of which each connection gets an "
            "instance; give the class, not an instance"
        )
    try:
        sample = control()
    except Exception as error:
        raise ScenarioError(
            f"control {title}: cannot be made without arguments ({error}); give values with "
            f"functools.partial({title}, …)"
        ) from error
    for method in ("on_ack", "on_loss"):
        if not callable(getattr(sample, method, None)):
            raise ScenarioError(
                f"control {title}: has no method {method}(socket); derive it from airtcp.Control"
            )
    name = _core.register_control(title, control, bool(getattr(sample, "paces", False)))
    _REMEDIES.append((control, name))
    return name


def remedies(control: Factory | Sequence[Factory]) -> list[str]:
    """The remedies of one class, or of several.

    Raises:
        ScenarioError: as `remedy`.
    """
    return [remedy(one) for one in (control if isinstance(control, Sequence) else [control])]


def is_python(part: str) -> bool:
    """Whether a part of a combination of remedies is a class in Python."""
    return part.strip().startswith(PREFIX)


def _title(control: object) -> str:
    """The class's name, with the values that a partial gives: `Gentle(0.8)` is `Gentle`."""
    if isinstance(control, partial):
        return _title(control.func)
    name = getattr(control, "__name__", type(control).__name__)
    return "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name)


def _is_same_partial(known: object, control: object) -> bool:
    return (
        isinstance(known, partial)
        and isinstance(control, partial)
        and (known.func, known.args, known.keywords)
        == (control.func, control.args, control.keywords)
    )
