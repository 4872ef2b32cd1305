"""A link as configured by `tc`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from airtcp._core import ScenarioError
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.draft import Draft
from airtcp.core.recordings.recording import DOWN, UP, Recording, read_recording

TABLE_SCALE = 8192
"""One in a table of netem."""
_DRAWN_S = 60
_DRAW_STEP_S = 0.001
_TABLE_FOLDERS = ("/usr/lib/tc", "/usr/lib64/tc", "/usr/share/tc", "/usr/lib/x86_64-linux-gnu/tc")
_NETEM_LIMIT = 1000
"""Packets of netem's queue where nothing else was said, those in delay among them."""


def configured(
    draft: Draft, one: Recording, recordings: Sequence[Recording], chosen: Choices
) -> str:
    """Writes a device's link; returns the direction of data.

    Raises:
        ScenarioError: several devices are shaped and the user chose no device.
    """
    shaping = _device(one, chosen)
    way = chosen.direction or (DOWN if shaping["device"].startswith("ifb") else UP)
    if chosen.direction is None:
        draft.assume(f"data goes {way}, through {shaping['device'] or 'the device'}", "--direction")
    lines = draft.lines
    lines.append("[link]")
    rate = chosen.rate or ("unlimited" if shaping["rate_bps"] is None else None)
    bps = shaping["rate_bps"]
    lines.append(f'rate = "{rate or f"{bps} bit/s"}"')
    if shaping["rate_bps"] is None and chosen.rate is None:
        if not (chosen.rtt_s or shaping["delay_ns"]):
            raise ScenarioError(
                f"{one.path}: sets losses alone, and neither a rate nor a delay: give one, "
                '--rate "20 Mbit/s" or --rtt 40ms'
            )
        draft.assume("the rate has no limit", "--rate")
    lines.append('reverse = { rate = "unlimited", delay = "0 s" }')
    draft.assume("the way back is not shaped", "--set link.reverse.rate=…")
    _add_delay(draft, shaping, recordings, chosen)
    _add_losses(draft, shaping, chosen)
    _add_queue(draft, shaping, chosen)
    return way


def _device(one: Recording, chosen: Choices) -> dict[str, Any]:
    names = [shaping["device"] for shaping in one.shaping]
    if chosen.device is not None:
        if chosen.device not in names:
            raise ScenarioError(
                f"--device {chosen.device}: {one.path} shapes {', '.join(names)} alone"
            )
        return one.shaping[names.index(chosen.device)]
    if len(names) > 1:
        raise ScenarioError(
            f"{one.path}: shapes {', '.join(names)}: choose one, --device {names[0]}"
        )
    return one.shaping[0]


def _add_delay(
    draft: Draft, shaping: dict[str, Any], recordings: Sequence[Recording], chosen: Choices
) -> None:
    delay_s = (shaping["delay_ns"] or 0) / 1e9
    if chosen.rtt_s is not None:
        delay_s = chosen.rtt_s
    jitter_s = (shaping["jitter_ns"] or 0) / 1e9
    spread = shaping["spread"]
    lines = draft.lines
    if jitter_s == 0:
        lines.append(f'delay = "{1e3 * delay_s:.6g} ms"')
        return
    # netem's jitter reorders unless a rate keeps packets in order (man tc-netem).
    order = "reorder" if shaping["rate_bps"] is None else "in-order"
    if spread == "uniform":
        # Uniform within the jitter on both sides, but never below 0.
        low_s, high_s = max(0.0, delay_s - jitter_s), delay_s + jitter_s
        lines.append(f'delay = "{1e3 * low_s:.6g} ms"')
        mean_ms = 1e3 * (high_s - low_s) / 2
        lines.append(
            f'jitter = {{ mean = "{mean_ms:.6g} ms", shape = "uniform", order = "{order}" }}'
        )
        return
    table = _table(spread, recordings)
    draws = np.random.default_rng(1).choice(table, int(_DRAWN_S / _DRAW_STEP_S))
    delays_ms = 1e3 * np.maximum(0.0, delay_s + jitter_s * draws / TABLE_SCALE)
    loss = _random_loss(shaping, chosen)
    draft.files["delays.csv"] = "time_ms,delay_ms,loss\n" + "".join(
        f"{1e3 * _DRAW_STEP_S * n:g},{ms:.4f},{loss:.6g}\n" for n, ms in enumerate(delays_ms)
    )
    lines.append(f'recorded = {{ path = "delays.csv", order = "{order}" }}')
    lines.append(f'repeat = {{ every = "{_DRAWN_S} s", start = "random" }}')
    draft.assume("a delay is drawn each millisecond, where netem draws for each packet", None)


def _random_loss(shaping: dict[str, Any], chosen: Choices) -> float:
    if chosen.loss is not None:
        return chosen.loss
    losses = shaping["losses"]
    if losses is None:
        return 0.0
    if len(losses) == 1:
        return float(losses[0])
    to_bad, to_good, in_bad, in_good = losses
    bad = to_bad / (to_bad + to_good) if to_bad + to_good > 0 else 0.0
    return float(bad * in_bad + (1 - bad) * in_good)


def _table(name: str, recordings: Sequence[Recording]) -> np.ndarray:
    """The values of a distribution: of a file that was given, or of iproute2 on this machine.

    Raises:
        ScenarioError: neither has it.
    """
    given = next((one.table for one in recordings if one.table), None)
    if given is None:
        paths = [Path(folder) / f"{name}.dist" for folder in _TABLE_FOLDERS]
        found = next((path for path in paths if path.is_file()), None)
        if found is None:
            raise ScenarioError(
                f'distribution "{name}": its table is not on this machine: give the file '
                f"{name}.dist of iproute2 too"
            )
        given = read_recording(found).table
    return np.array(given, dtype=np.float64)


def _add_losses(draft: Draft, shaping: dict[str, Any], chosen: Choices) -> None:
    if "delays.csv" in draft.files:
        if shaping["losses"] and len(shaping["losses"]) > 1:
            draft.assume("losses come one by one, at the mean of both states", None)
        return
    if chosen.loss is not None or (shaping["losses"] and len(shaping["losses"]) == 1):
        loss = _random_loss(shaping, chosen)
        if loss:
            draft.lines.append(f"loss = {{ rate = {loss:.6g} }}")
    elif shaping["losses"]:
        to_bad, to_good, in_bad, in_good = shaping["losses"]
        draft.lines.append(
            f'loss = {{ model = "gilbert-elliott", good_to_bad = {to_bad:.6g}, '
            f"bad_to_good = {to_good:.6g}, loss_in_bad = {in_bad:.6g}, "
            f"loss_in_good = {in_good:.6g} }}"
        )


def _add_queue(draft: Draft, shaping: dict[str, Any], chosen: Choices) -> None:
    bps, delay_s = shaping["rate_bps"], (shaping["delay_ns"] or 0) / 1e9
    if chosen.queue_packets is not None:
        packets = chosen.queue_packets
    elif shaping["limit_delay_ns"] is not None and bps is not None:
        packets = max(1, round(shaping["limit_delay_ns"] / 1e9 * bps / 12_000))
    elif shaping["limit_bytes"] is not None:
        draft.lines.append(f"queue = {{ bytes = {max(1, shaping['limit_bytes'])} }}")
        return
    else:
        limit = shaping["limit_packets"] or _NETEM_LIMIT
        in_delay = 0 if bps is None else round(delay_s * bps / 12_000)
        packets = max(1, limit - in_delay)
        if in_delay:
            draft.assume(
                f"of the limit of {limit} packets {in_delay} are in the delay, {packets} wait",
                "--queue",
            )
    draft.lines.append(f"queue = {{ packets = {packets} }}")
