"""Writes the scores of `airtcp diagnose` into docs/measurements/diagnose.md.

tests/captures/record.py out/captures --kernel 6.12         # once; 40 minutes of processor time
python docs/measurements/write_diagnose.py out/captures --kernel 6.12  # scores, forecasts, the page
python docs/measurements/write_diagnose.py  # the page from diagnose.json alone

Without --kernel all is of this machine's own, in real time; --late scores what was late, too.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from airtcp.kernels.catalogue import MACHINE
from airtcp.report.marked import put
from airtcp.report.provenance import stamp

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measurements" / "diagnose.md"
FOUND = ROOT / "docs" / "measurements" / "diagnose.json"
SCRIPTS = ROOT / "tests" / "captures"
HALVES = {"development": "developed with", "kept": "kept aside"}
INDEPENDENT = {"independent": "the kernel over another emulator"}


def main() -> None:
    """Runs what a corpus is given for, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", nargs="?", help="the folder of the recordings")
    parser.add_argument("--kernel", default=MACHINE, help="the kernel of the forecasts")
    parser.add_argument("--late", action="store_true", help="score what was late, too")
    options = parser.parse_args()
    if corpus := options.corpus:
        late = ["--late"] if options.late else []
        kernel = ["--kernel", options.kernel]
        for half in HALVES:
            _run("score.py", corpus, "--half", half, "--json", str(FOUND), *late)
            _run("queues.py", f"{corpus}-queues", "--half", half, "--json", str(FOUND))
        _run("independent.py", f"{corpus}-independent", "--json", str(FOUND))
        _run("forecast.py", corpus, "--out", "out/forecast", "--json", str(FOUND), *kernel)
    found = json.loads(FOUND.read_text())
    text = put(PAGE.read_text(), "scores", scores(found))
    if "causes" in found:
        text = put(text, "causes", causes(found["causes"]))
    if "forecasts" in found:
        text = put(text, "forecasts", forecasts(found["forecasts"]))
    PAGE.write_text(text)
    if options.corpus:
        stamp(ROOT, "scores", "causes", "forecasts")


def _run(script: str, *arguments: str) -> None:
    subprocess.run([sys.executable, str(SCRIPTS / script), *arguments], check=True)


def scores(found: dict[str, Any]) -> str:
    """A row a measure, a column a half."""
    halves = {half: words for half, words in HALVES.items() if half in found}
    heads = [f"{words}, {_captures(found[half])}" for half, words in halves.items()]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(halves)]
    for name, words in found["words"].items():
        cells = []
        for half in halves:
            right, of = (found[half]["totals"][name][key] for key in ("right", "of"))
            cells.append(f"{right:,} of {of:,} ({100 * right / of:.1f} %)" if of else "none")
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


CAUSES = ("policer", "tail-drop", "aqm", "queue-or-radio", "radio", "not-shown")


def causes(found: dict[str, Any]) -> str:
    """A confusion matrix: a row a kind of link and what lost, a column how that was classified."""
    heads = ["links", "lost to", *(f"called {name}" for name in CAUSES)]
    lines = [f"| {' | '.join(heads)} |", "|---|---|" + "---:|" * len(CAUSES)]
    for half, words in (HALVES | INDEPENDENT).items():
        for kind, rows in found.get(half, {}).items():
            for truth, counts in sorted(rows.items()):
                cells = " | ".join(f"{counts.get(name, 0):,}" for name in CAUSES)
                lines.append(f"| {kind}, {words} | {truth} | {cells} |")
    return "\n".join(lines)


def _captures(half: dict[str, Any]) -> str:
    late = half.get("late", 0)
    return f"{half['captures']} captures" + (f", {late} of them recorded late" if late else "")


def forecasts(rows: list[dict[str, Any]]) -> str:
    """A row a case: what was advised, its forecast, and what the kernel gained."""
    lines = ["| captured link | advised | forecast | on the kernel |", "|---|---|---:|---:|"]
    for row in rows:
        if "remedy" not in row:
            why = row["headline"].removeprefix("No remedy is recommended: ")
            lines.append(f"| {row['case']} | none: {why} | | |")
            continue
        forecast = interval(row["forecast_percent"], row["forecast_interval"])
        if "not_run" in row:
            lines.append(f"| {row['case']} | {row['remedy']} | {forecast} | not run in time |")
            continue
        real = interval(row["real_percent"], row["real_interval"])
        lines.append(f"| {row['case']} | {row['remedy']} | {forecast} | {real} |")
    return "\n".join(lines)


def interval(percent: float | None, bounds: list[float] | None) -> str:
    """A gain in per cent with its 95 % interval."""
    if percent is None:
        return "none"
    text = f"{percent:+.0f} %"
    text = text if bounds is None else f"{text} ({bounds[0]:.0f} to {bounds[1]:.0f} %)"
    return text.replace("-", "\N{MINUS SIGN}")


if __name__ == "__main__":
    main()
