"""Captures read by the core, their tables as Polars frames."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from airtcp import _core
from airtcp.diagnosis.capture import Capture, Facts, Refusal

FULL_QUEUE = "tail-drop"
_READING = 0.1
"""The share of a diagnosis that reading is said to be."""


def read_capture(
    path: str | os.PathLike[str],
    flow: int | None,
    view: str | None,
    progress: Callable[[float, str], object] | None = None,
) -> Capture:
    """Reads a capture and one of its flows in depth.

    Raises:
        CaptureError: it cannot be read, or has no such flow.
    """
    size = Path(path).stat().st_size if Path(path).is_file() else 0

    def told(bytes_: int, packets: int) -> None:
        if progress:
            share = min(bytes_ / size, 1.0) if size else 0.0
            progress(_READING * share, f"{packets:,} packets")

    read = _core.read_capture(path, flow, view, progress=told)
    summary: dict[str, Any] = json.loads(read.summary())
    flows = pl.DataFrame(read.flows())
    refusals: list[Refusal] = summary["refusals"]
    if summary["flow"] is None:
        return Capture(Path(path), None, refusals, flows)
    labels = pl.DataFrame(read.labels())
    full = labels.filter(pl.col("loss") == FULL_QUEUE)["original_packet"].drop_nulls()
    segments = (
        pl.DataFrame(read.segments())
        # The SYN is no data, and a round trip of its own size.
        .filter(pl.col("end") > pl.col("start"))
        .with_columns(dropped=pl.col("lost") & pl.col("packet").is_in(full.implode()))
    )
    return Capture(
        Path(path),
        _facts(summary["flow"]),
        refusals,
        flows,
        segments,
        pl.DataFrame(read.acks()),
        labels,
        pl.DataFrame(read.hazard()),
        # A pipe cannot be read a second time.
        read.annotate if Path(path).is_file() else None,
    )


def _facts(flow: dict[str, Any]) -> Facts:
    return Facts(
        flow=flow["number"],
        view=flow["view"],
        is_view_certain=flow["is_view_certain"],
        sender=flow["data_from"],
        receiver=flow["data_to"],
        sack=flow["sack"],
        timestamps=flow["timestamps"],
        retransmitted=flow["retransmitted"],
        needless=flow["needless"],
        timeouts=flow["timeouts"],
        timeouts_spurious=flow["timeouts_spurious"],
        shares=flow["shares"],
        seconds=flow["seconds"],
        segments_per_ack=flow["segments_per_ack"],
        shows_tail_drop=flow["shows_tail_drop"],
    )
