"""Sentences on a link's check against its capture: as a replay, and as a process."""

from collections.abc import Mapping, Sequence

from airtcp.core.quantities import format_bit_rate, format_count, format_percent
from airtcp.diagnosis.check import Prediction, Replay
from airtcp.diagnosis.limits import ENDS_SHARE


def replay_words(replay: Replay, *, is_same: bool = True) -> str:
    """Whether the link reproduces the capture; `is_same` for a replay of the recorded events."""
    outcome = "reproduces" if replay.explains else "does not reproduce"
    how = "with the recorded stops and losses" if is_same else "with random draws"
    return (
        f"A simulated {replay.profile} sender over this link, {how}, {outcome} the capture: "
        f"{deviations_words(replay)}."
    )


def deviations_words(replay: Replay, decimals: int = 1) -> str:
    """What a replay has in place of the capture's goodput, round trip and timeouts."""
    parts = [
        f"{name} {format_percent(100 * off, sign=True, decimals=decimals)}"
        for name, off in replay.deviations.items()
    ]
    timeouts, captured = replay.simulated.timeouts, replay.capture.timeouts
    if timeouts != captured:
        unit = "timeout" if timeouts == 1 else "timeouts"
        parts.append(f"{format_count(timeouts)} {unit} instead of {format_count(captured)}")
    return ", ".join(parts)


def prediction_words(predictions: Sequence[Prediction], *, is_replayed: bool = True) -> str:
    """The capture against the draws of the process."""
    missed = [one for one in predictions if not one.holds]
    if not missed:
        too = " too" if is_replayed else ""
        return f"With random stops and losses it does{too}: within the 95 % interval of 20 seeds."
    parts = ", ".join(
        f"{one.measure} {measured(one.measure, one.captured)}, expected "
        f"{measured(one.measure, one.low)} to {measured(one.measure, one.high)}"
        for one in missed
    )
    return f"With random stops and losses it does not: {parts}."


def measured(measure: str, value: float) -> str:
    """A value of a prediction in its unit."""
    match measure:
        case "goodput":
            return format_bit_rate(max(value, 0.0))
        case "median round trip":
            return f"{1e3 * value:.1f} ms"
        case _:
            return f"{max(value, 0.0):.0f}"


def not_played_back(shares: Mapping[str, float]) -> str:
    """Limits at the flow's ends that a replayed link cannot reproduce."""
    limits = {"application": "the application", "receiver_window": "the receiver's window"}
    held = [
        f"{who} held it back for {100 * shares[key]:.0f} % of the time"
        for key, who in limits.items()
        if shares[key] > ENDS_SHARE
    ]
    if not held:
        return ""
    return (
        f" A simulated link cannot reproduce that {' and '.join(held)}: capture a bulk transfer "
        "that is written and read as fast as possible."
    )
