"""The instructions of ``make bench``: counts of runs, and the places at which they are spent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import instructions
from peers import ROOT
from tables import Table, verdict

SHOWN_BY_PART = (
    instructions.AIMED_AT,
    "lossy pipe, sack, 1% loss",
    "lossy pipe, linux-bbr, 1% loss",
)
MAX_PARTS = 16


def measure(progress: Callable[[str], None]) -> tuple[list[Table], dict[str, Any]]:
    """Instructions a packet, where callgrind is installed."""
    progress("counting instructions")
    figures: dict[str, Any] = {}
    try:
        counted = instructions.count_all(instructions.build(ROOT), instructions.COUNTS)
        rows, columns = instructions.table(counted), ["run", "instructions"]
        figures["instructions_a_packet"] = counted
        try:
            guided = instructions.count_guided(instructions.COUNTS)
        except instructions.AbsentError as reason:
            print(f"bench: guided builds are not counted: {reason}", file=sys.stderr)
        else:
            rows = instructions.with_guided(rows, counted, guided)
            columns += ["with a profile, as in wheels", "difference"]
            figures["instructions_a_packet_with_profile"] = guided
    except instructions.AbsentError as reason:
        progress("")
        print(f"bench: instructions are left out: {reason}", file=sys.stderr)
        return [], {}
    progress("")
    title = "Instructions of the event loop for a segment sent"
    table = Table(title, [*columns, "over SACK", "target"])
    for name, *counts, ratio in rows:
        target = "-"
        if name == instructions.AIMED_AT:
            target = verdict(counted[name], instructions.AIM, at_least=False)
        elif ratio != "-":
            target = verdict(float(ratio), instructions.AIM_OVER_SACK, at_least=False)
        table.rows.append([name, *counts, ratio, target])
    return [table, where_spent()], figures


def where_spent() -> Table:
    """The parts of the house that instructions of some runs are spent in."""
    runs = [run for run in instructions.COUNTS if run.name in SHOWN_BY_PART]
    binaries = instructions.build(ROOT)
    columns = [instructions.spend(binaries, run).a_segment() for run in runs]
    names = [run.name.removeprefix("lossy pipe, ") for run in runs]
    table = Table("Where they are spent, by the place of the source line", ["part", *names])
    largest = sorted(columns[-1], key=lambda part: -columns[-1][part])[:MAX_PARTS]
    for part in largest:
        table.rows.append([part, *(f"{column.get(part, 0.0):,.0f}" for column in columns)])
    others = (sum(column.values()) - sum(column.get(p, 0.0) for p in largest) for column in columns)
    table.rows.append(["all others", *(f"{each:,.0f}" for each in others)])
    return table
