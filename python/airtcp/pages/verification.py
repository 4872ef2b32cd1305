"""The report of a verification: one HTML page, and the same as data."""

import csv
import io
from pathlib import Path

from airtcp.comparison.metrics import METRICS
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_bit_rate, format_count
from airtcp.kernel.agreement import MARGIN_PERCENT
from airtcp.kernel.under_load import has_probes, mean_of_probes
from airtcp.kernel.verdict import verdict
from airtcp.kernel.verify import Verification
from airtcp.pages.rendering import whole, write_page, write_text
from airtcp.pages.tables import Table


@whole
def write_report(runs: Verification, directory: Path, command: str | None = None) -> Path:
    """Writes index.html and verification.csv; returns index.html's path.

    Raises:
        OSError: the directory cannot be written.
    """
    write_text(directory / "verification.csv", _csv(runs))
    cells = runs.simulated.cells
    return write_page(
        directory,
        "verification.html.j2",
        command,
        verdict=verdict(runs),
        margin=f"{MARGIN_PERCENT:g}",
        runs=runs,
        effects=effects_table(runs),
        cost=cost_table(runs),
        latency=latency_table(runs),
        probes=probes_table(runs),
        counts=counts_table(runs),
        times=lateness_table(runs),
        steps=[(remedy, runs.measured[remedy][0]) for remedy in runs.remedies[1:]],
        scenario=cells["scenario"][0],
        scenario_hash=cells["scenario_hash"][0],
    )


def effects_table(runs: Verification) -> Table:
    """Goodput on the kernel and simulated, each with its paired difference."""
    rows = []
    for remedy in runs.remedies:
        real = runs.goodput(remedy)
        simulated = runs.simulated.values(remedy, "goodput_bps")
        means = (_mean(real), _mean(simulated))
        if remedy == BASELINE:
            rows.append((remedy, "", format_bit_rate(means[0]), "", format_bit_rate(means[1]), ""))
            continue
        agreement = runs.agreements[remedy]
        rows.append(
            (
                remedy,
                agreement.answer.value,
                format_bit_rate(means[0]),
                _effect(agreement.real),
                format_bit_rate(means[1]),
                _effect(agreement.simulated),
            )
        )
    columns = ("remedy", "shown", "kernel", "difference, 95 %", "simulated", "difference, 95 %")
    return Table(columns, rows, 2)


def cost_table(runs: Verification) -> Table:
    """Retransmissions, timeouts and undone repairs per run, kernel and simulated."""
    rows = []
    for remedy in runs.remedies:
        retransmitted = _mean(runs.simulated.values(remedy, "segments_retransmitted"))
        timeouts = _mean(runs.simulated.values(remedy, "timeouts"))
        rows.append(
            (
                remedy,
                format_count(runs.mean(remedy, "retransmissions")),
                format_count(retransmitted),
                format_count(runs.mean(remedy, "timeouts")),
                format_count(timeouts),
                format_count(runs.mean(remedy, "undos")),
            )
        )
    columns = (
        "remedy",
        "retransmissions",
        "simulated",
        "timeouts",
        "simulated",
        "undone repairs",
    )
    return Table(columns, rows)


_LATENCIES = (
    ("round trip, median", "rtt-p50", "rtt_p50_ms"),
    ("95th percentile", "rtt-p95", "rtt_p95_ms"),
    ("one way, median", "delay-p50", "delay_p50_ms"),
    ("SRTT, as the sender believes", "sender-srtt", "srtt_ms"),
)
"""Heading, metric of the simulation, and field of the kernel's measurement."""


def latency_table(runs: Verification) -> Table:
    """Latency measured at the sender, and the sender's estimate, kernel and simulated."""
    rows = []
    for remedy in runs.remedies:
        row = [remedy]
        for _, metric, field in _LATENCIES:
            simulated = [METRICS[metric].of(run) for run in runs.simulated.summaries[remedy]]
            known = [value for value in simulated if value is not None]
            row.append(_milliseconds(runs.mean_latency(remedy, field)))
            row.append(_milliseconds(_mean(known) if known else None))
        rows.append(tuple(row))
    heads = [head for name, _, _ in _LATENCIES for head in (name, "simulated")]
    return Table(("remedy", *heads), rows)


_PROBES = (
    ("ping, median", "ping_p50_ms"),
    ("95th percentile", "ping_p95_ms"),
    ("exchange, median", "exchange_p50_ms"),
    ("95th percentile", "exchange_p95_ms"),
)
_RESPONSIVENESS = (("RPM, others", "rpm_foreign"), ("own", "rpm_own"), ("both", "rpm"))


def probes_table(runs: Verification) -> Table:
    """Measurements of probes under load, kernel and simulated; no rows without probes."""
    rows = []
    for remedy in runs.remedies:
        measured, simulated = runs.measured[remedy], runs.simulated.summaries[remedy]
        if not has_probes(measured):
            continue
        row = [remedy]
        for _, field in (*_PROBES, *_RESPONSIVENESS):
            form = _milliseconds if field.endswith("_ms") else _whole
            row += [form(value) for value in mean_of_probes(measured, simulated, field)]
        rows.append(tuple(row))
    heads = [head for name, _ in (*_PROBES, *_RESPONSIVENESS) for head in (name, "simulated")]
    return Table(("remedy", *heads), rows)


def counts_table(runs: Verification) -> Table:
    """Drops and marks per run of the kernel's queueing discipline, against the simulated queue.

    No rows without one.
    """
    rows = []
    for remedy in runs.remedies:
        measured, simulated = runs.measured[remedy], runs.simulated.summaries[remedy]
        if not all("counted" in run for run in measured):
            continue
        dropped, marked = (
            _mean([float(sum(flow[field] for flow in run["flows"])) for run in simulated])
            for field in ("segments_dropped_queue", "segments_marked")
        )
        rows.append(
            (
                remedy,
                format_count(_mean([float(run["counted"]["dropped"]) for run in measured])),
                format_count(dropped),
                format_count(_mean([float(run["counted"]["marked"]) for run in measured])),
                format_count(marked),
            )
        )
    return Table(("remedy", "dropped", "simulated", "marked", "simulated"), rows)


def lateness_table(runs: Verification) -> Table:
    """Lateness of the emulator's packets."""
    rows = []
    for remedy in runs.remedies:
        worst = max(run["late_worst_ms"] for run in runs.measured[remedy])
        rows.append(
            (
                remedy,
                f"{runs.mean(remedy, 'late_median_ms'):.3f} ms",
                f"{runs.mean(remedy, 'late_p99_ms'):.3f} ms",
                f"{worst:.3f} ms",
                f"{100 * runs.mean(remedy, 'late_share'):.3f} %",
            )
        )
    return Table(("remedy", "median", "99th percentile", "worst", "later than 1 ms"), rows)


def _csv(runs: Verification) -> str:
    rows = []
    for remedy in runs.remedies:
        simulated = runs.simulated.values(remedy, "goodput_bps")
        for index, (seed, run) in enumerate(zip(runs.seeds, runs.measured[remedy], strict=True)):
            numbers = {key: value for key, value in run.items() if isinstance(value, int | float)}
            rows.append(
                {"remedy": remedy, "seed": seed, "simulated_goodput_bps": simulated[index]}
                | numbers
            )
    written = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    table = csv.DictWriter(written, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def _effect(difference: PairedDifference) -> str:
    return "identical" if difference.outcome is Outcome.IDENTICAL else amount(difference, sign=True)


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} ms"


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
