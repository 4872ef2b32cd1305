"""Sizes remedies to the link before they are tried.

A window, a buffer or a queue of a fixed size suits one link only: 64 kB take half a second at 1
Mbit/s and are a quarter of the bandwidth-delay product of 50 Mbit/s over 40 ms.
"""

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from airtcp import _core
from airtcp._core import AirtcpError, Scenario
from airtcp.core.quantities import format_bit_rate

PACKET_BYTES = 1500
LATENCY_PRODUCTS = 1.25
"""A window that keeps the queue short: the bandwidth-delay product, and a little for jitter."""
BUFFER_PRODUCTS = 2.0
"""A buffer with room for a second round trip during repair (RFC 6349 §3.3.1 needs one)."""
MAX_INITIAL = 64
"""Largest initial window tried, in segments: more would flood the queues of access links."""
ACKS_A_ROUND_TRIP = 4
"""Acknowledgments per round trip that still serve a sender well (TACK, SIGCOMM 2020, §5.1)."""
_UNBOUND = (
    "bbr+send-buffer:bytes=1073741824+receive-buffer:bytes=1073741824",
    "send-buffer:bytes=1073741824+receive-buffer:bytes=1073741824",
    "",
)
"""Settings of a flow to measure the path's rate; the first that the scenario accepts."""


@dataclass(frozen=True)
class Path:
    """Properties of the path that determine sizes."""

    rate_bps: float
    """Rate of the link, or the combined goodput of flows without limits."""
    round_trip_s: float
    """Minimum round-trip time, in seconds."""
    flows: int
    mss: int

    @property
    def product(self) -> float:
        """The bandwidth-delay product of one flow, in bytes."""
        return self.rate_bps * self.round_trip_s / 8.0 / self.flows

    @property
    def segments(self) -> float:
        """The bandwidth-delay product of one flow, in segments."""
        return self.product / self.mss

    @property
    def words(self) -> str:
        """The product in words, for a reason."""
        share = f" / {self.flows} flows" if self.flows > 1 else ""
        return (
            f"{self.product / 1000:.4g} kB, the bandwidth-delay product "
            f"({format_bit_rate(self.rate_bps)} over {1000 * self.round_trip_s:.3g} ms{share})"
        )


@dataclass(frozen=True)
class Sized:
    """A remedy as tried on a link."""

    text: str
    """The remedy with its size: `receive-window:bytes=125000`."""
    reason: str


@dataclass(frozen=True)
class Unsized:
    """A remedy that the link already has in this size, or for which no size can be determined."""

    reason: str


def sizes(scenario: Scenario) -> Mapping[str, Sized | Unsized]:
    """The sizes of the remedies that have one, by the remedy's name."""
    document = tomllib.loads(scenario.to_toml())
    if "rtt_log" in document.get("link", {}):
        why = "recorded round trips have no rate: the window stands for it"
        return {name: Unsized(why) for name in ("max-window", "send-buffer", "receive-buffer")}
    path = path_of(scenario)
    if path is None:
        return {}
    tcp = document.get("tcp", {})
    return {name: rule(path, document, tcp) for name, rule in _RULES.items()}


@lru_cache(maxsize=256)
def path_of(scenario: Scenario) -> Path | None:
    """The path's rate and round trip, from a run of flows without limits; None without any."""
    document = tomllib.loads(scenario.to_toml())
    for remedies in _UNBOUND:
        try:
            free = scenario.with_remedies(remedies)
            break
        except AirtcpError:
            continue
    run = json.loads(_core.run(free, 1).summary())
    flows = [flow for flow in run["flows"] if flow["delivered_bytes"] and flow["min_rtt_ms"]]
    if not flows:
        return None
    rate = stated_rate_bps(document) or sum(flow["goodput_bps"] for flow in flows)
    shortest_s = min(flow["min_rtt_ms"] for flow in flows) / 1000.0
    mss = int(document.get("tcp", {}).get("mss", 1448))
    return Path(rate, shortest_s, len(flows), mss) if rate and shortest_s else None


def stated_rate_bps(document: Mapping[str, Any]) -> float | None:
    """The rate of a pipe or dumbbell; None if the link's rate depends on something else."""
    rate = document.get("link", {}).get("rate")
    if document.get("topology") not in {"pipe", "dumbbell"} or not isinstance(rate, str):
        return None
    number, _, unit = rate.partition(" ")
    scale = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}.get(unit)
    try:
        return float(number) * scale if scale else None
    except ValueError:
        return None


Rule = Callable[[Path, Mapping[str, Any], Mapping[str, Any]], Sized | Unsized]


def _receive_window(path: Path, _: Mapping[str, Any], tcp: Mapping[str, Any]) -> Sized | Unsized:
    segments = max(4, math.ceil(LATENCY_PRODUCTS * path.segments))
    size = max(4096, segments * path.mss)
    offered = _bytes(tcp.get("receive_buffer"))
    if tcp.get("receive_window") == "fixed" and offered is not None and offered <= size:
        return Unsized(f"the receiver offers no more than {offered:.0f} bytes already")
    return Sized(f"receive-window:bytes={size}", f"{LATENCY_PRODUCTS:g} times {path.words}")


def _max_window(path: Path, _: Mapping[str, Any], tcp: Mapping[str, Any]) -> Sized | Unsized:
    segments = max(4, math.ceil(LATENCY_PRODUCTS * path.segments))
    if isinstance(now := tcp.get("max_window"), int) and now <= segments:
        return Unsized(f"{now} segments bound the window already; send-buffer raises it")
    return Sized(f"max-window:segments={segments}", f"{LATENCY_PRODUCTS:g} times {path.words}")


def _initial_window(path: Path, _: Mapping[str, Any], tcp: Mapping[str, Any]) -> Sized | Unsized:
    now = int(tcp.get("initial_window", 10))
    segments = min(MAX_INITIAL, max(2, math.ceil(path.segments)))
    if segments == now:
        return Unsized(f"the window begins with {now} segments already, which is {path.words}")
    most = f", at most {MAX_INITIAL} segments" if segments == MAX_INITIAL else ""
    return Sized(f"initial-window:segments={segments}", f"{path.words}{most}, in place of {now}")


def _queue(path: Path, document: Mapping[str, Any], _: Mapping[str, Any]) -> Sized | Unsized:
    # Appenzeller, Keslassy & McKeown 2004: the joint product, over the root of the flow count.
    product = path.product * path.flows / math.sqrt(path.flows)
    packets = max(4, math.ceil(product / PACKET_BYTES))
    now = document.get("link", {}).get("queue", {}).get("packets")
    if now == packets:
        return Unsized(f"the queue holds {packets} packets already, the bandwidth-delay product")
    root = f" times the root of {path.flows}" if path.flows > 1 else ""
    return Sized(f"queue:packets={packets}", f"{path.words}{root}")


def _ack_rate(path: Path, _: Mapping[str, Any], __: Mapping[str, Any]) -> Sized | Unsized:
    segments = min(127, max(2, round(path.segments / ACKS_A_ROUND_TRIP)))
    return Sized(
        f"ack-rate:segments={segments}", f"{ACKS_A_ROUND_TRIP} acknowledgments in {path.words}"
    )


def _split_tcp(path: Path, _: Mapping[str, Any], __: Mapping[str, Any]) -> Sized | Unsized:
    size = max(262_144, math.ceil(BUFFER_PRODUCTS * path.product))
    return Sized(
        f"split-tcp:buffer={size}", f"{BUFFER_PRODUCTS:g} times {path.words}, at least 256 KiB"
    )


def _snoop(path: Path, _: Mapping[str, Any], __: Mapping[str, Any]) -> Sized | Unsized:
    packets = max(100, math.ceil(BUFFER_PRODUCTS * path.segments))
    return Sized(
        f"snoop:packets={packets}", f"{BUFFER_PRODUCTS:g} times {path.words}, at least 100"
    )


def _wtcp(path: Path, _: Mapping[str, Any], __: Mapping[str, Any]) -> Sized | Unsized:
    window = max(32, math.ceil(LATENCY_PRODUCTS * path.segments))
    packets = max(256, 2 * window)
    return Sized(
        f"wtcp:window={window},packets={packets}",
        f"{LATENCY_PRODUCTS:g} times {path.words}, at least 32, and twice as many copies",
    )


def _send_buffer(path: Path, _: Mapping[str, Any], tcp: Mapping[str, Any]) -> Sized | Unsized:
    bounds = [_bytes(tcp.get("send_buffer"))]
    if isinstance(window := tcp.get("max_window"), int):
        bounds.append(float(window * path.mss))
    return _raised("send-buffer", path, bounds)


def _receive_buffer(path: Path, _: Mapping[str, Any], tcp: Mapping[str, Any]) -> Sized | Unsized:
    return _raised("receive-buffer", path, [_bytes(tcp.get("receive_buffer"))])


def _raised(name: str, path: Path, bounds: list[float | None]) -> Sized | Unsized:
    """A buffer raised to the size that the link needs, if it has less."""
    bound = min((one for one in bounds if one is not None), default=math.inf)
    if bound >= LATENCY_PRODUCTS * path.product:
        return Unsized(f"no such buffer bounds the flow: the link needs {path.words}")
    size = max(4096, math.ceil(BUFFER_PRODUCTS * path.product))
    return Sized(
        f"{name}:bytes={size}",
        f"{BUFFER_PRODUCTS:g} times {path.words}, in place of {bound / 1000:.4g} kB",
    )


_RULES: dict[str, Rule] = {
    "receive-window": _receive_window,
    "max-window": _max_window,
    "initial-window": _initial_window,
    "queue": _queue,
    "ack-rate": _ack_rate,
    "split-tcp": _split_tcp,
    "snoop": _snoop,
    "wtcp": _wtcp,
    "send-buffer": _send_buffer,
    "receive-buffer": _receive_buffer,
}


_BYTES = {
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}


def _bytes(value: object) -> float | None:
    """A size of `[tcp]` in bytes: a number, or text such as "8 MiB"; None for no limit."""
    if isinstance(value, int):
        return float(value)
    if not isinstance(value, str):
        return None
    number, _, unit = value.partition(" ")
    scale = _BYTES.get(unit)
    try:
        return float(number) * scale if scale else None
    except ValueError:
        return None
