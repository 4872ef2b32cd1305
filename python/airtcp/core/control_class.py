"""Checks a class of congestion controls before it runs: missing, misspelt and unknown parts."""

from inspect import getattr_static

from airtcp._core import ScenarioError
from airtcp.core.control import Control

REQUIRED = ("on_ack", "on_loss")
"""Methods without which nothing can be simulated."""
METHODS = tuple(name for name in vars(Control) if name.startswith("on_"))
"""Every method that is called."""
_OF_LINUX = {
    "init": "on_start",
    "cong_avoid": "on_ack",
    "cong_control": "on_ack, in a class with paces = True",
    "pkts_acked": "on_ack",
    "ssthresh": "on_loss",
    "undo_cwnd": "on_undo",
}
"""Operations of Linux's `struct tcp_congestion_ops`, and the methods that decide the same."""
_LIKE_PACES = {"pace", "paced", "pacing", "is_paced"}
"""Attributes of a class that are probably meant to be `paces`."""
_CLOSE = 0.8
"""Similarity from which a name is a misspelling, from 0 to 1."""


def checked(control: object, title: str) -> object:
    """An instance of a class of controls, if the class can be simulated.

    Raises:
        ScenarioError: it is no class, cannot be made without arguments, lacks a method, or has
            one that would never be called.
    """
    if not callable(control):
        raise ScenarioError(
            f"control = {control!r:.60}: expected a class, of which each connection gets an "
            "instance; give the class, not an instance"
        )
    try:
        sample: object = control()
    except Exception as error:
        raise ScenarioError(
            f"control {title}: cannot be made without arguments ({error}); give values with "
            f"functools.partial({title}, …)"
        ) from error
    unknown = _unknown(sample)
    if unknown:
        found, meant = unknown
        raise ScenarioError(
            f"control {title}: {found} is never called; did you mean {meant}? The methods are "
            f"{', '.join(METHODS)}; begin the name with an underscore if it is meant for the "
            "class itself"
        )
    for method in REQUIRED:
        if not callable(getattr(sample, method, None)):
            raise ScenarioError(
                f"control {title}: has no method {method}(socket); derive it from airtcp.Control"
            )
    for name in sorted(_LIKE_PACES & vars(type(sample)).keys()):
        raise ScenarioError(
            f"control {title}: {name} is not read; did you mean paces? With paces = True in the "
            "class a control sets socket.pacing_bps"
        )
    return sample


def _unknown(sample: object) -> tuple[str, str] | None:
    """A method that looks as if it were to be called, and the one that is."""
    from difflib import get_close_matches

    for name in dir(type(sample)):
        if name.startswith("_") or name in METHODS or not callable(getattr_static(sample, name)):
            continue
        if name in _OF_LINUX and _is_undecided(sample, _OF_LINUX[name]):
            return name, _OF_LINUX[name]
        is_like_one = name.lower().startswith("on_")
        near = get_close_matches(name.lower(), METHODS, 1, 0.0 if is_like_one else _CLOSE)
        if near:
            return name, near[0]
    return None


def _is_undecided(sample: object, method: str) -> bool:
    """Whether a class leaves a method as it is in `Control`, or lacks it."""
    name = method.partition(",")[0]
    own = getattr(type(sample), name, None)
    return own is None or own is getattr(Control, name)
