"""Context of a comparison: the link and the sender, and why nothing may help there."""

import tomllib
from statistics import fmean
from typing import Any

from airtcp import _core
from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.sizes import stated_rate_bps
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_bit_rate, format_count
from airtcp.core.summary import retransmitted_share, total

_FULL = 0.9
"""A link that carries this share of its rate leaves no room for a remedy."""
_MSS_BYTES = 1448
_TODAY = "linux"
"""The profile of today's Linux, whose congestion control is CUBIC."""
_AS_DESCRIBED = {"duration", "description", "link.rtt_log.path"}
"""Settings that do not contradict the link's description."""


def context(comparison: Comparison) -> str:
    """The link and the sender, in a line."""
    document = _document(comparison)
    what = _set(comparison) or str(document.get("description") or "")
    profile = sender(comparison)
    stack = dict(_core.profiles()).get(profile, "")
    if program := _program(comparison):
        stack = f"with {program}"
    link = f"{comparison.scenario.name} ({what})" if what else comparison.scenario.name
    return f"Link: {link}. Sender: {profile}{f' ({stack})' if stack else ''}."


def _set(comparison: Comparison) -> str:
    """The settings applied to the scenario: its description need not hold any more."""
    told = [
        f"{key} = {value}" for key, value in comparison.settings.items() if key not in _AS_DESCRIBED
    ]
    return "with " + ", ".join(told) if told else ""


def sender(comparison: Comparison) -> str:
    """The profile of the scenario's senders; profiles of `flows.tcp` are joined by "and"."""
    return " and ".join(comparison.scenario.senders)


def with_sender(comparison: Comparison, text: str) -> str:
    """A clause with the senders in brackets, unless they are today's Linux."""
    profile = sender(comparison)
    control = _program(comparison) or _control(comparison)
    if profile == _TODAY and control == "cubic":
        return text
    words = (
        f"{profile} senders, not current Linux"
        if profile != _TODAY
        else f"{profile} senders on {control}"
    )
    return f"{text[:-1]}; {words})" if text.endswith(")") else f"{text} ({words})"


def _control(comparison: Comparison) -> object:
    return _document(comparison).get("tcp", {}).get("congestion_control", "cubic")


def _program(comparison: Comparison) -> str | None:
    """The file of the senders' congestion control, if it is a BPF program."""
    control = _control(comparison)
    return str(control["bpf"]) if isinstance(control, dict) else None


def why_nothing_helps(comparison: Comparison) -> str:
    """Why the baseline leaves nothing to gain, as far as its runs show."""
    runs = comparison.summaries[BASELINE]
    metric = METRICS[comparison.metric]
    if metric.name != "goodput":
        known = [value for run in runs if (value := metric.of(run)) is not None]
        return f"{metric.phrase} is {metric.show(fmean(known))} without a remedy"
    goodput = fmean(run["goodput_bps"] for run in runs)
    rate = stated_rate_bps(_document(comparison))
    if rate and goodput > _FULL * rate:
        return f"the link is full: {format_bit_rate(goodput)} of its {format_bit_rate(rate)}"
    room = comparison.room_percent
    if room is not None and room < comparison.smallest:
        return f"the flow gets {format_bit_rate(goodput)}, all that the link carries"
    lost = sum(flow["segments_lost_link"] for run in runs for flow in run["flows"])
    spurious = sum(total(run, "timeouts_spurious") for run in runs)
    window = _document(comparison).get("tcp", {}).get("max_window")
    if isinstance(window, int) and _is_at_its_window(comparison, window):
        if "rtt_log" in _document(comparison).get("link", {}):
            return (
                "recorded round trips have no rate, and the window that stands for it "
                f"({window} segments, tcp.max_window) bounds the flow"
            )
        return f"the window of {window} segments (tcp.max_window) bounds the flow, not the link"
    if not lost and not spurious:
        return "the link itself loses nothing, and no timeout is spurious"
    share = fmean(map(retransmitted_share, runs))
    return (
        f"{_counted(lost, 'loss', 'losses')} and "
        f"{_counted(spurious, 'spurious timeout', 'spurious timeouts')} "
        f"({100 * share:.1f} % of the segments are retransmissions) leave no remedy "
        f"{comparison.smallest:g} % to gain"
    )


def _counted(number: float, one: str, many: str) -> str:
    return f"{format_count(number)} {one if number == 1 else many}"


def _is_at_its_window(comparison: Comparison, window: int) -> bool:
    ends = [flow["cwnd_bytes"] for run in comparison.summaries[BASELINE] for flow in run["flows"]]
    full = sum(end >= (window - 1) * _MSS_BYTES for end in ends)
    return full > len(ends) / 2


def _document(comparison: Comparison) -> dict[str, Any]:
    return tomllib.loads(comparison.scenario.to_toml())
