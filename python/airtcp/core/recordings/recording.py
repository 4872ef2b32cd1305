"""A file about a link, read by the one registry of formats into parts of one form."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airtcp._core import ScenarioError
from airtcp.core.recordings.fields import fields

DOWN, UP, UNKNOWN = "down", "up", "unknown"
OF_LINK = frozenset(("link", "setting"))
"""Bounds of a rate that make it the link's; with others it is a lower bound."""
_ON_THE_LINK = {"packets": 1.0, "tcp": 1500 / 1448, "udp": 1500 / 1472}
"""Bytes of whole IP packets for each byte that a rate counts, with full packets."""


@dataclass(frozen=True)
class Rates:
    """The rate of one direction, in bits of whole IP packets a second."""

    direction: str
    mean_bps: float
    counted_bps: float
    """The mean as the file counts it."""
    bound: str
    """Its bound: `link`, `setting`, `target`, `window`, `shaper` or `transfer`."""
    steps: list[tuple[float, float, float, bool]]
    """Start and length in seconds, rate, whether it is the link's."""

    @property
    def is_links(self) -> bool:
        """Whether the mean is the link's rate, and no lower bound."""
        return self.bound in OF_LINK


@dataclass(frozen=True)
class Figures:
    """Round trips in seconds and losses, where the file has them."""

    idle_rtt_s: float | None
    idle_jitter_s: float | None
    least_loaded_rtt_s: float | None
    loaded_down_rtt_s: float | None
    loaded_up_rtt_s: float | None
    loaded_rtt_s: float | None
    least_rtt_s: float | None
    mean_rtt_s: float | None
    rtt_deviation_s: float | None
    losses: dict[str, float]
    """Shares by direction."""

    def loaded_s(self, direction: str) -> float | None:
        """The usual round trip under a load in a direction."""
        own = self.loaded_up_rtt_s if direction == UP else self.loaded_down_rtt_s
        return self.loaded_rtt_s if own is None else own


@dataclass(frozen=True)
class Hop:
    """A hop of a route, probed by itself."""

    host: str
    sent: int
    loss: float
    """Share of its probes without an answer."""
    least_s: float | None
    mean_s: float | None
    worst_s: float | None


@dataclass(frozen=True)
class Opportunities:
    """When a link could carry a packet of so many bytes, in whole milliseconds."""

    direction: str
    bytes: int
    times_ms: list[int]


@dataclass(frozen=True)
class Recording:
    """All facts in one file."""

    path: Path
    format: str
    title: str
    summary: str
    remarks: list[str]
    assumptions: list[tuple[str, str | None]]
    """An assumption, and the option that overrides it."""
    program: str | None
    hosts: list[str]
    began_unix_s: float | None
    load: str
    """Whether the link was busy while it was probed: `idle`, `loaded` or `unknown`."""
    rates: list[Rates]
    opportunities: list[Opportunities]
    delays: dict[str, list[tuple[float, float]]]
    """One-way delays by direction: time and delay in seconds."""
    trains: list[tuple[float, float, list[float]]]
    """Trains over an idle link: time, one-way delay, offsets, in seconds."""
    figures: Figures
    shaping: list[dict[str, Any]]
    table: list[int]
    hops: list[Hop]
    """The hops of a route, the nearest first."""
    has_probes: bool
    is_bare: bool
    """Whether it is a list of whole numbers and nothing else."""

    @property
    def is_link(self) -> bool:
        """Whether it holds more than probes."""
        return bool(self.rates or self.opportunities or self.shaping or self.trains)


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Reads a file in any format of the registry.

    Raises:
        ScenarioError: it cannot be read, is of no known format, or has a fault.
    """
    read = fields(path)
    figures = {
        name.removesuffix("_ns") + "_s": None if value is None else value / 1e9
        for name, value in read["figures"].items()
        if name != "losses"
    }
    began_ns = read["began_unix_ns"]
    return Recording(
        Path(path),
        read["format"],
        read["title"],
        read["summary"],
        read["remarks"],
        read["assumptions"],
        read["program"],
        read["hosts"],
        None if began_ns is None else began_ns / 1e9,
        read["load"],
        [_rates(one) for one in read["rates"]],
        [Opportunities(**one) for one in read["opportunities"]],
        {
            one["direction"]: [(at / 1e9, delay / 1e9) for at, delay in one["steps_ns"]]
            for one in read["delays"]
        },
        [
            (sent / 1e9, base / 1e9, [offset / 1e9 for offset in offsets])
            for sent, base, offsets in read["trains"]
        ],
        Figures(**figures, losses=dict(read["figures"]["losses"])),
        read["shaping"],
        read["table"],
        [
            Hop(host, sent, loss, *(None if one is None else one / 1e9 for one in round_trips))
            for host, sent, loss, round_trips in read["hops"]
        ],
        "numbers" in read,
        _is_bare(read),
    )


def _rates(one: dict[str, Any]) -> Rates:
    factor = _ON_THE_LINK[one["layer"]]
    steps = [
        (start / 1e9, length / 1e9, bps * factor, is_links)
        for start, length, bps, is_links in one["steps"]
    ]
    mean = one["mean_bps"]
    return Rates(one["direction"], mean * factor, mean, one["bound"], steps)


def _is_bare(read: dict[str, Any]) -> bool:
    """Whole milliseconds without times: LeoReplayer's delays are such a list."""
    if read["format"] != "csv" or read["clock"] != "unknown":
        return False
    return all(ns % 1_000_000 == 0 for ns in read["round_trips_ns"])


def other_kind(path: Path) -> str | None:
    """A file of a known kind that is no recording, with the command for it; None for others."""
    try:
        fields(path)
    except ScenarioError as error:
        reason = str(error).removeprefix(f'trace "{path}"').lstrip(",: ")
        is_kind = reason.startswith("is ") and not reason.startswith("is a scenario")
        return reason if is_kind else None
    return None


def is_recording(path: Path) -> bool:
    """Whether a file is of a format of the registry, and no scenario."""
    if path.suffix == ".toml" or not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        fields(path)
    except ScenarioError:
        return False
    return True
