"""Reasons for which no remedy is ranked, in sentences."""

from collections.abc import Mapping, Sequence

from airtcp.diagnosis.capture import Refusal
from airtcp.diagnosis.check import Prediction, Replay
from airtcp.diagnosis.check_words import deviations_words, not_played_back


def refused(one: Refusal) -> str:
    """A refusal as sentences."""
    return f"{_sentence(one['reason'])} {_sentence(one['capture_hint'])}"


def why_not_ranked(
    replay: Replay,
    predicted: Sequence[Prediction],
    shares: Mapping[str, float],
) -> list[str]:
    """Reasons to stop at labels and shares, each with the capture that would help.

    A flow without losses on the link needs no losses: its queue and stops are known otherwise.
    """
    reasons = []
    is_a_draw = bool(predicted) and all(one.holds for one in predicted)
    if not replay.explains and not is_a_draw:
        off = deviations_words(replay, decimals=0)
        reasons.append(
            f"The link model does not explain this capture: it gives {off}."
            f"{not_played_back(shares)}"
        )
    elif not is_a_draw:
        missed = ", ".join(one.measure for one in predicted if not one.holds)
        reasons.append(
            "The link with random stops and losses does not explain this capture: 20 simulated "
            f"runs do not cover its {missed}."
        )
    return reasons


def _sentence(reason: str) -> str:
    return reason[0].upper() + reason[1:].rstrip(".") + "."
