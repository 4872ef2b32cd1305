#!/usr/bin/env python3
"""Measures the cost of an acknowledgment of Reno in Python, above Reno in Rust.

Run it with the project's Python: ``.venv/bin/python benches/own_control.py``. Both have the same
window, so that both runs have the same packets; they take turns, and the median is shown.
"""

from __future__ import annotations

import statistics
import time

import airtcp

REPETITIONS = 7
LINK = {"link.loss.rate": 0, "duration": "300s"}


class Counted(airtcp.Control):
    """Reno, which counts its calls."""

    def __init__(self) -> None:
        self.acks = 0

    def on_ack(self, socket: airtcp.Socket) -> None:
        """See `Control`."""
        self.acks += 1
        if socket.cwnd < socket.ssthresh:
            socket.cwnd += socket.acked
        else:
            socket.cwnd += socket.acked / socket.cwnd


class Empty(Counted):
    """Does nothing: its window stays the initial one."""

    def on_ack(self, socket: airtcp.Socket) -> None:
        """See `Control`."""
        self.acks += 1


def seconds(settings: dict[str, object], control: type[airtcp.Control] | None) -> tuple[float, int]:
    """Processor time of a run, and its number of acknowledgments in Python."""
    scenario = airtcp.load_scenario("lossy-pipe", settings)
    begin = time.process_time()
    run = airtcp.run(scenario, control=control, events=False)
    took = time.process_time() - begin
    return took, run.controls[0]["counters"]["acks"] if run.controls else 0


def main() -> None:
    """Prints a table in Markdown."""
    reno = LINK | {"tcp.congestion_control": "reno"}
    fixed = LINK | {"tcp.initial_window": 10, "tcp.max_window": 10}
    print("| control | an acknowledgment, ns |\n|---|---:|")
    for name, reference, control in (("Reno", reno, Counted), ("an empty one", fixed, Empty)):
        each = []
        for _ in range(REPETITIONS):
            without, _ = seconds(reference, None)
            took, acks = seconds(
                {key: value for key, value in reference.items() if key != "tcp.congestion_control"},
                control,
            )
            each.append((took - without) / acks * 1e9)
        print(f"| {name} | {statistics.median(each):.0f} |")


if __name__ == "__main__":
    main()
