"""Runs the learned control on four links, and writes the table of docs/guides/learned-control.md.

    python pages/write_learned.py

The program is that of bpf/examples/learned.bpf.c in the interpreter; sentences are computed from
the table.
"""

from pathlib import Path
from statistics import fmean

import airtcp
from airtcp import Comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "learned-control.md"
PROGRAM = ROOT / "bpf" / "examples" / "learned.bpf.c"
SEEDS = 5
COMMON = {"duration": "30 s", "tcp.congestion_control": "reno"}
LINKS: dict[str, dict[str, object]] = {
    "trained for: 20 Mbit/s, 40 ms, 1 % random loss": {
        "link.rate": "20 Mbit/s",
        "link.delay": "20 ms",
        "link.loss.rate": 0.01,
    },
    "shallow queue: the same, 15 packets, no random loss": {
        "link.rate": "20 Mbit/s",
        "link.delay": "20 ms",
        "link.queue.packets": 15,
    },
    "deep queue: 5 Mbit/s, 1000 packets, no random loss": {
        "link.rate": "5 Mbit/s",
        "link.delay": "20 ms",
        "link.queue.packets": 1000,
    },
    "satellite: 20 Mbit/s, 600 ms, 1 % random loss": {
        "link.rate": "20 Mbit/s",
        "link.delay": "300 ms",
        "link.loss.rate": 0.01,
    },
}
"""The lossy pipe with these settings; the policy saw links like the first, from 10 to 40 Mbit/s."""

NAMES = {BASELINE: "Reno", "cubic": "CUBIC", "bbr": "BBR"}
LEARNED = "learned"
MAX_RETRANSMITTED = 0.05
"""Share of retransmissions above Reno's from which a control floods its link."""
MAX_DELAY_RATIO = 2
"""Ratio of its delay to Reno's from which the price is named."""


def compared(settings: dict[str, object]) -> Comparison:
    """Reno, CUBIC, BBR and the learned control on one link."""
    settings = COMMON | settings
    remedies = ["cubic", "bbr"]
    return airtcp.compare("lossy-pipe", remedies, SEEDS, settings, bpf=PROGRAM, harm=True)


def name_of(remedy: str) -> str:
    """A control's name for readers."""
    return NAMES.get(remedy, LEARNED)


def values(found: Comparison, remedy: str) -> tuple[float, float, float]:
    """Mean goodput in Mbit/s, 95th percentile of the one-way delay in ms, share retransmitted."""
    runs = found.summaries[remedy]
    delays = [METRICS["delay-p95"].of(run) or 0.0 for run in runs]
    shares = [METRICS["retransmitted"].of(run) or 0.0 for run in runs]
    return fmean(run["goodput_bps"] for run in runs) / 1e6, fmean(delays), fmean(shares)


def rows(link: str, found: Comparison) -> list[str]:
    """The rows of a link, one a control."""
    lines = []
    for remedy in found.remedies:
        goodput, delay, share = values(found, remedy)
        by = harm = ""
        if remedy != BASELINE:
            by, harm = (amount(one[remedy], sign=True) for one in (found.decisive, found.harm))
        values_of = f"{goodput:.2f} | {by} | {delay:.0f} | {100 * share:.1f} % | {harm}"
        lines.append(f"| {link} | {name_of(remedy)} | {values_of} |")
        link = ""
    return lines


def verdict(link: str, found: Comparison) -> str:
    """A sentence on the learned control: its gain, and where it fails."""
    (learned,) = (remedy for remedy in found.remedies if name_of(remedy) == LEARNED)
    _, delay, share = values(found, learned)
    _, usual_delay, usual_share = values(found, BASELINE)
    difference = found.decisive[learned]
    better = found.is_better(learned)
    gain = (
        f"it changes Reno's goodput by {amount(difference, sign=True)}"
        if better or (difference.interval_percent and difference.interval_percent[1] < 0)
        else "no gain in goodput over Reno is shown"
    )
    faults = []
    if share - usual_share > MAX_RETRANSMITTED:
        faults.append(
            f"it floods the link: {100 * share:.0f} % of its segments are retransmissions "
            f"(Reno {100 * usual_share:.1f} %)"
        )
    if delay > MAX_DELAY_RATIO * usual_delay:
        faults.append(f"5 % of its packets take over {delay:.0f} ms (Reno {usual_delay:.0f} ms)")
    if (harm := found.harm[learned]).interval_percent and harm.interval_percent[1] < 0:
        faults.append(f"a Reno flow in competition has {amount(harm, sign=True)}")
    end = f", but {', '.join(faults)}" if faults else ""
    return f"- {link.partition(':')[0].capitalize()}: {gain}{end}."


def table() -> str:
    """The table, and the sentences."""
    every = {link: compared(settings) for link, settings in LINKS.items()}
    head = [
        "| link | control | goodput, Mbit/s | against Reno | delay p95, ms | retransmitted | "
        "a competing Reno flow |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    lines = [line for link, found in every.items() for line in rows(link, found)]
    sentences = [verdict(link, found) for link, found in every.items()]
    return "\n".join([*head, *lines, "", *sentences])


def main() -> None:
    """Writes the page."""
    PAGE.write_text(put(PAGE.read_text("utf-8"), "learned", table()), encoding="utf-8")
    stamp(ROOT, "learned")


if __name__ == "__main__":
    main()
