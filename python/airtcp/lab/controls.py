"""Relevant keys of a scenario as sliders: ranges and words from the schema."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from airtcp.core.catalogue import schema
from airtcp.lab.values import Kind, parse_quantity, parse_range

_SPREAD = 32.0
"""Range of a slider, as a factor below and above the scenario's value."""

_SMALLEST_SHARE = 1e-4
"""Smallest positive value of the slider of a share that may be 0."""

_FROM_ZERO: dict[Kind, tuple[float, float]] = {
    Kind.TIME: (1e-3, 1.0),
    Kind.RATE: (1e5, 1e9),
    Kind.BYTES: (1e3, 1e7),
    Kind.COUNT: (1.0, 100.0),
    Kind.NUMBER: (0.01, 10.0),
}
"""Ends of a slider if the scenario's 0 or "unlimited" gives no scale."""

_MATTER = (
    *("rate", "delay", "lost", "of", "good_to_bad", "bad_to_good", "loss_in_bad", "packets"),
    *("bytes", "retry_limit", "retry_timeout", "window", "every", "length", "working", "mean"),
    *("share", "by", "distance_m", "speed_m_per_s", "transmit_power_dbm", "block_error"),
    *("saturated_users", "stations", "count", "max_window", "duration", "spike_share"),
    *("spike_height", "from", "to", "mcs", "spatial_streams"),
)
"""Last parts of keys that are shown directly; other keys are one click away."""

_SECONDARY = ("wired.rate", "wired.queue.", "wlan.access_point_queue.", "link.reverse.", "flows.b")
"""Prefixes of keys that are always one click away."""

_SWITCHES = {
    "link.stops": ("Stops", {"every": "5 s", "length": "300 ms"}),
    "link.jitter": ("Jitter", {"mean": "5 ms"}),
    "link.late": ("Reordering", {"share": "0.01", "by": "20 ms"}),
}
"""Options of a link with a rate, and the values that enable them."""


_RATES = tuple(mbps * 1e6 for mbps in (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48, 54))
"""IEEE 802.11-2020 tables 15-4, 16-3 and 17-4 (20 MHz), in bit/s."""

_WINDOWS = tuple(float(2**k - 1) for k in range(1, 16))
"""Contention windows (IEEE 802.11-2020 §10.3.3), in slots."""

_OF_STANDARD: dict[str, tuple[float, ...]] = {
    "wlan.rate": _RATES,
    "wlan.basic_rate": _RATES,
    "wlan.cw_min": _WINDOWS,
    "wlan.cw_max": _WINDOWS,
    # IEEE 802.11-2020 tables 19-27 and 21-29, 802.11ax-2021 table 27-54; 802.11n numbers its
    # streams consecutively, scenarios do not.
    "wlan.mcs": tuple(map(float, range(12))),
    "wlan.spatial_streams": tuple(map(float, range(1, 5))),
}
"""Keys with a few discrete values; the core decides which of them fit the other keys."""

_WORDS = ("wlan.standard", "wlan.channel_width", "wlan.guard_interval", "wlan.scheduler")
"""Keys of 802.11n, ac and ax with a few words as values."""


class Control(msgspec.Struct, frozen=True):
    """A slider."""

    key: str
    meaning: str
    kind: Kind
    value: float | None
    """In bit/s, seconds, bytes, a share of 1 or a plain number; None means "unlimited"."""
    low: float
    high: float
    """Ends of the slider; typed numbers may be any that the schema admits."""
    zero: bool = False
    """Whether the lower end of the slider means 0."""
    unlimited: bool = False
    """Whether "unlimited" is a value too."""
    main: bool = True
    """Whether it is shown directly."""
    choices: list[float] = []
    """All possible values, if there are few."""


class Word(msgspec.Struct, frozen=True):
    """A possible value of a key."""

    text: str
    meaning: str
    fits: bool
    """Whether it is compatible with the other keys as they are."""


class Pick(msgspec.Struct, frozen=True):
    """A key with a few words as values."""

    key: str
    meaning: str
    value: str
    words: list[Word]


class Switch(msgspec.Struct, frozen=True):
    """An optional property of the link, with its sliders."""

    name: str
    meaning: str
    controls: list[Control]


class Controls(msgspec.Struct, frozen=True):
    """All settings of a link."""

    controls: list[Control]
    picks: list[Pick]
    switches: list[Switch]
    keys: dict[str, str]
    """Every key of a scenario and its meaning."""


def controls(document: Mapping[str, Any], accepts: Callable[[str, str], bool]) -> Controls:
    """The sliders of a scenario with all its keys, in the order of the scenario.

    `accepts` decides for a key and a text whether the scenario would be valid with it.
    """
    leaves = dict(_leaves(schema()))
    shown = [
        control
        for key, value in _values(document)
        if _is_of_the_link(key) and (control := _control(key, value, leaves.get(key)))
    ]
    shown = [
        msgspec.structs.replace(control, choices=_choices(control, accepts))
        if control.key in _OF_STANDARD
        else control
        for control in shown
    ]
    values = dict(_values(document))
    picks = [
        Pick(key, str(leaves[key].get("description", "")), value, _words(key, leaves[key], accepts))
        for key in _WORDS
        if "wlan.channel_width" in values and isinstance(value := values.get(key), str)
    ]
    link = document.get("link", {})
    switches = [
        Switch(
            name,
            str(leaves[f"{table}.{next(iter(defaults))}"].get("description", "")),
            [
                control
                for leaf, text in defaults.items()
                if (control := _control(f"{table}.{leaf}", text, leaves[f"{table}.{leaf}"]))
            ],
        )
        for table, (name, defaults) in _SWITCHES.items()
        if "rate" in link and table.split(".")[1] not in link and "stops" not in link
    ]
    keys = {key: str(leaf.get("description", "")) for key, leaf in leaves.items()}
    return Controls(shown, picks, switches, keys)


def _choices(control: Control, accepts: Callable[[str, str], bool]) -> list[float]:
    """Values of the standard that a key may have."""
    unit = " bit/s" if control.kind is Kind.RATE else ""
    return [
        value for value in _OF_STANDARD[control.key] if accepts(control.key, f"{value:.0f}{unit}")
    ]


def _words(key: str, leaf: Mapping[str, Any], accepts: Callable[[str, str], bool]) -> list[Word]:
    """The words that the schema admits for a key."""
    return [
        Word(str(one["const"]), str(one.get("description", "")), accepts(key, str(one["const"])))
        for one in _alternatives(leaf)
        if "const" in one
    ]


def _is_of_the_link(key: str) -> bool:
    return key == "tcp.max_window" or not key.startswith(("tcp.", "traffic."))


def _values(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    """Every key of a document, except tables, with its value."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _values(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _leaves(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every key of the schema, except tables, with its schema."""
    for name, child in node["properties"].items():
        table = next((one for one in _alternatives(child) if "properties" in one), None)
        if table is None:
            yield f"{path}{name}", child
        else:
            yield from _leaves(table, f"{path}{name}.")


def _alternatives(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A node of the schema and its alternatives, depth first."""
    yield node
    for word in ("anyOf", "oneOf"):
        for child in node.get(word, ()):
            yield from _alternatives(child)


def _control(key: str, value: object, leaf: Mapping[str, Any] | None) -> Control | None:
    """The slider of a key; None if its value is not a number."""
    if leaf is None or isinstance(value, bool):
        return None
    alternatives = list(_alternatives(leaf))
    unlimited = any(one.get("const") == "unlimited" for one in alternatives)
    kind = _kind(alternatives)
    limits = _limits(alternatives)
    if kind is None or limits is None:
        return None
    number: float | None
    if isinstance(value, int | float):
        number = float(value)
    elif value == "unlimited" and unlimited:
        number = None
    elif isinstance(value, str) and (quantity := parse_quantity(value)):
        number = quantity[1]
    elif isinstance(value, str) and kind is Kind.SHARE:
        number = float(value)
    else:
        return None
    low, high = _ends(kind, number, limits)
    return Control(
        key=key,
        meaning=str(leaf.get("description", "")),
        kind=kind,
        value=number,
        low=low,
        high=high,
        zero=limits[0] <= 0.0 and kind is not Kind.NUMBER,
        unlimited=unlimited,
        main=(key.rpartition(".")[2] in _MATTER and not key.startswith(_SECONDARY))
        or key.endswith("loss.rate"),
    )


def _kind(alternatives: list[Mapping[str, Any]]) -> Kind | None:
    patterns = " ".join(str(one.get("pattern", "")) for one in alternatives)
    for kind, unit in ((Kind.RATE, "bit/s"), (Kind.TIME, "ms|"), (Kind.BYTES, "KiB")):
        if unit in patterns:
            return kind
    if "%" in patterns:
        return Kind.SHARE
    types = {name for one in alternatives for name in _types(one)}
    if "array" in types and "number" not in types:
        return None
    if "number" in types:
        return Kind.NUMBER
    return Kind.COUNT if "integer" in types else None


def _types(node: Mapping[str, Any]) -> list[str]:
    types = node.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _limits(alternatives: list[Mapping[str, Any]]) -> tuple[float, float] | None:
    """The range that the schema admits, in the base unit."""
    for one in alternatives:
        if "x-range" in one:
            return parse_range(one["x-range"])
    for one in alternatives:
        if "minimum" in one and "maximum" in one:
            return float(one["minimum"]), float(one["maximum"])
    return None


def _ends(kind: Kind, value: float | None, limits: tuple[float, float]) -> tuple[float, float]:
    """The ends of a slider around a value, within the range of the schema."""
    least, most = limits
    if kind is Kind.SHARE:
        return max(least, _SMALLEST_SHARE), min(most, 1.0)
    if kind is Kind.NUMBER and (value or 0.0) <= 0.0 < -least:
        # Logarithms such as dBm: the same distance on both sides.
        centre = value or 0.0
        return max(least, centre - 30.0), min(most, centre + 30.0)
    if value is None or value <= 0.0:
        low, high = _FROM_ZERO[kind]
    else:
        low, high = value / _SPREAD, value * _SPREAD
    if kind is Kind.COUNT:
        low, high = 1.0, max(high, 20.0)
    return max(least, low), min(most, high)
