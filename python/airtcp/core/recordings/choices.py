"""Options of `airtcp import`: facts missing from a file, or known better by the user."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """Each is None where it was not given."""

    direction: str | None = None
    """Direction of the data, `up` or `down`; also of files that do not record it."""
    rate: str | None = None
    """The link's rate, such as "20 Mbit/s"."""
    rtt_s: float | None = None
    """The round trip without load."""
    queue_packets: int | None = None
    loss: float | None = None
    """The share of packets that the link loses."""
    interval_s: float | None = None
    """The time from one probe to the next."""
    step_s: float | None = None
    """The time from one row to the next of a list without times."""
    keep_names: bool = False
    """Names and addresses of machines stay in the scenario."""
    device: str | None = None
    """The device of a list of queueing disciplines."""
    rate_option: str = '--rate "20 Mbit/s" (or --set "link.rate=20 Mbit/s")'
    """How the command in use is given a rate."""
