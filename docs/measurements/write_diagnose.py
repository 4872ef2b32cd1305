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
PARTS = ("scores", "causes", "forecasts")
HALVES = {"development": "developed with", "kept": "kept aside"}
INDEPENDENT = {"independent": "the kernel over another emulator"}


def main() -> None:
    """Runs what a corpus is given for, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", nargs="?", help="the folder of the recordings")
    parser.add_argument("--kernel", default=MACHINE, help="the kernel of the forecasts")
    parser.add_argument("--late", action="store_true", help="score what was late, too")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="what is run; all if left out"
    )
    parser.add_argument("--before", type=Path, help="scores of an earlier version, of score.py")
    options = parser.parse_args()
    parts = tuple(options.part or PARTS)
    if corpus := options.corpus:
        late = ["--late"] if options.late else []
        kernel = ["--kernel", options.kernel]
        for half in HALVES:
            if "scores" in parts:
                _run("score.py", corpus, "--half", half, "--json", str(FOUND), *late)
            if "causes" in parts:
                _run("queues.py", f"{corpus}-queues", "--half", half, "--json", str(FOUND))
        if "causes" in parts:
            _run("independent.py", f"{corpus}-independent", "--json", str(FOUND))
        if "forecasts" in parts:
            _run("forecast.py", corpus, "--out", "out/forecast", "--json", str(FOUND), *kernel)
    found = json.loads(FOUND.read_text())
    if options.before:
        earlier = json.loads(options.before.read_text())
        found["before"] = {half: by_kind(earlier[half]) for half in HALVES if half in earlier}
        FOUND.write_text(json.dumps(found, indent=1) + "\n")
    text = put(PAGE.read_text(), "scores", scores(found))
    if "before" in found:
        text = put(text, "answers", answers(found))
    if "causes" in found:
        text = put(text, "causes", causes(found["causes"]))
    if "forecasts" in found:
        text = put(text, "forecasts", forecasts(found["forecasts"]))
    PAGE.write_text(text)
    if options.corpus:
        answered = ("answers",) if "scores" in parts and "before" in found else ()
        stamp(ROOT, *parts, *answered)


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
        if set(cells) != {"none"}:
            lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


BY_KIND = {
    "cause": "cause",
    "rate": "rate within 3 %",
    "loss": "loss within 10 %",
    "names_it": "sentence names the limit",
    "not_wrong": "sentence names nothing wrong",
    "refused": "refused, of them due",
}
"""What of a score is shown by kind, and its column."""


def by_kind(half: dict[str, Any]) -> dict[str, dict[str, list[int]]]:
    """Of each kind and measure, how many are right and how many there are."""
    kinds: dict[str, dict[str, list[int]]] = {}
    for case in half["cases"]:
        sums = kinds.setdefault(case["kind"], {name: [0, 0] for name in BY_KIND})
        for name, (right, of) in sums.items():
            one = case.get("due" if name == "refused" else name, {"right": 0, "of": 0})
            sums[name] = [right + one["right"], of + one["of"]]
    return kinds


def answers(found: dict[str, Any]) -> str:
    """A row a kind and half: before, and now."""
    heads = ["links", *(f"{words}: before, now" for words in BY_KIND.values())]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * len(BY_KIND)]
    for half, words in HALVES.items():
        if half not in found["before"]:
            continue
        now, before = by_kind(found[half]), found["before"][half]
        whole = {"all": _summed(now)} | now
        earlier = {"all": _summed(before)} | before
        for kind, sums in whole.items():
            cells = [_beside(name, earlier.get(kind, {}).get(name), sums[name]) for name in BY_KIND]
            lines.append(f"| {kind}, {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _summed(kinds: dict[str, dict[str, list[int]]]) -> dict[str, list[int]]:
    return {
        name: [sum(sums[name][place] for sums in kinds.values()) for place in (0, 1)]
        for name in BY_KIND
    }


def _beside(name: str, before: list[int] | None, now: list[int]) -> str:
    def shown(one: list[int] | None) -> str:
        if not one or not one[1]:
            return "none"
        return f"{one[1]}, {one[0]}" if name == "refused" else f"{one[0]:,} of {one[1]:,}"

    return f"{shown(before)}; {shown(now)}"


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
