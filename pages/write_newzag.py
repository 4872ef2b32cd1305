"""Verifies NewZag on a kernel, and writes the table into docs/measurements/real.md.

    make newzag-docs  # in virtual time
    python pages/write_newzag.py out/newzag --kernel machine  # this machine's; as root

Finished runs are kept in the folder and found again, so that an interrupted run resumes.
"""

import argparse
import sys
from pathlib import Path

from airtcp import __version__
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.words import amount
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.verify import Verification, verify
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios" / "lossy-pipe.toml"
START, END = "<!-- generated: newzag on the kernel -->\n", "<!-- end -->"
RATES = ("0.001", "0.01", "0.02")
REMEDIES = {"newzag:adjusted=0": "NewZag", "newzag:adjusted=1": "adjusted"}
SEEDS = 5
DURATION = "20 s"


def effect(difference: PairedDifference) -> str:
    """A paired difference in a cell."""
    if difference.outcome is Outcome.IDENTICAL:
        return "none"
    words = amount(difference, sign=True)
    is_shown = difference.outcome is not Outcome.NO_DIFFERENCE_SHOWN
    return words if is_shown else f"{words} (none shown)"


def rows(rate: str, found: Verification) -> list[str]:
    """A row a remedy of one loss rate."""
    lines = []
    for remedy, name in REMEDIES.items():
        agreement = found.agreements[remedy]
        judged = [row for run in found.measured[remedy] for row in run["verdicts"] if row["lost"]]
        radio = sum(row["radio"] for row in judged)
        losses = radio + sum(row["congestion"] for row in judged)
        lines.append(
            f"| {100 * float(rate):g} % | {name} | {effect(agreement.real)} "
            f"| {effect(agreement.simulated)} | {agreement.answer.value} "
            f"| {radio} of {losses} |"
        )
    return lines


def main() -> None:
    """Runs unfinished cases, and writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--jobs", type=int, help="runs of the kernel at the same time")
    arguments = parser.parse_args()
    lines = [
        "| loss | classifier | on the kernel | simulated | paired | taken for the radio's |",
        "|---:|---|---:|---:|---|---:|",
    ]
    kernel = ""
    for rate in RATES:
        found = verify(
            SCENARIO,
            list(REMEDIES),
            SEEDS,
            {"tcp.profile": "linux-reno", "link.loss.rate": float(rate), "duration": DURATION},
            kernel=arguments.kernel,
            out=arguments.out / rate,
            jobs=arguments.jobs,
            progress=lambda done, runs, words: print(f"{done} of {runs}: {words}", file=sys.stderr),
        )
        kernel = found.kernel
        lines += rows(rate, found)
    lines += ["", f"Linux {kernel}, airtcp {__version__}, {SEEDS} seeds of {DURATION}."]
    document = ROOT / "docs" / "measurements" / "real.md"
    text = document.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END, 1)[1]
    document.write_text(before + START + "\n".join(lines) + "\n" + END + after, encoding="utf-8")
    stamp(ROOT, "newzag on the kernel")


main()
