"""Settings of short runs over the shipped cells: neighbours who stay, and no shadowing.

Over 20 s a sender's rate depends on who is there, and where, more than on the sender.
"""

STEADY = {
    "cell.saturated_users": 2,
    "cell.sessions.on": "24 h",
    "cell.radio.shadowing_db": 0,
}
_CELLS = ("lte", "nr")


def settings_of(scenario: str, duration_s: float) -> dict[str, object]:
    """The settings of a run of a shipped scenario for a duration in seconds."""
    steady = STEADY if scenario in _CELLS else {}
    return {"duration": f"{duration_s:g} s", **steady}
