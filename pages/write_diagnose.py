"""Writes the scores of `airtcp diagnose` into docs/measurements/diagnose.md.

tests/captures/record.py out/captures --kernel 6.12         # once; 40 minutes of processor time
python pages/write_diagnose.py out/captures --kernel 6.12  # scores, forecasts, the page
python pages/write_diagnose.py  # only the page, from diagnose.json

Without --kernel all runs are on this machine, in real time; --late also scores late cases.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "diagnose.md"
FOUND = ROOT / "docs" / "measurements" / "diagnose.json"
SCRIPTS = ROOT / "tests" / "captures"
PARTS = ("scores", "other", "causes", "forecasts", "remedied")
HALVES = {"development": "developed with", "kept": "kept aside"}
INDEPENDENT = {"independent": "the kernel over another emulator"}
OTHER = "ns-3, "
"""Before the halves of captures of another stack."""


def main() -> None:
    """Runs the parts that were given a corpus, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", nargs="?", help="the folder of the recordings")
    parser.add_argument("--kernel", default=MACHINE, help="the kernel of the forecasts")
    parser.add_argument("--late", action="store_true", help="score what was late, too")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="what is run; all if left out"
    )
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
        if "other" in parts:
            _run("other_stack.py", f"{corpus}-ns3", "--json", str(FOUND))
        if "causes" in parts:
            _run("independent.py", f"{corpus}-independent", "--json", str(FOUND))
        if "forecasts" in parts:
            _run("forecast.py", corpus, "--out", "out/forecast", "--json", str(FOUND), *kernel)
        if "remedied" in parts:
            _run("remedied.py", corpus, "--out", "out/remedied", "--json", str(FOUND), *kernel)
    found = json.loads(FOUND.read_text())
    text = put(PAGE.read_text(), "scores", scores(found))
    text = put(text, "kinds", matrix(found))
    text = put(text, "answers", answers(found))
    if "causes" in found:
        text = put(text, "causes", causes(found["causes"]))
    if "forecasts" in found:
        text = put(text, "forecasts", forecasts(found["forecasts"]))
    if "remedied" in found:
        text = put(text, "remedied", remedied(found["remedied"]))
    PAGE.write_text(text)
    if options.corpus:
        written = {"scores": ("scores", "answers", "kinds"), "other": ("kinds",)}
        marks = [mark for part in parts for mark in written.get(part, (part,))]
        stamp(ROOT, *dict.fromkeys(marks))


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
"""The entries of a score shown by kind, and their columns."""


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
    """A row for each half, and for each kind that is not right throughout."""
    heads = ["links", *BY_KIND.values()]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * len(BY_KIND)]
    for half, words in HALVES.items():
        kinds = by_kind(found[half])
        faulty = {
            kind: sums for kind, sums in kinds.items() if any(a != b for a, b in sums.values())
        }
        for kind, sums in ({"all": _summed(kinds)} | faulty).items():
            cells = [_cell(name, sums[name]) for name in BY_KIND]
            lines.append(f"| {kind}, {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def matrix(found: dict[str, Any]) -> str:
    """A row per kind of link, and the judgement of its first sentences by half and stack."""
    columns = {words: found[half]["cases"] for half, words in HALVES.items() if half in found}
    other = found.get("other_stack", {})
    columns |= {OTHER + words: other[half] for half, words in HALVES.items() if half in other}
    lines = [f"| links | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    kinds = dict.fromkeys(case["kind"] for cases in columns.values() for case in cases)
    for kind in kinds:
        cells = [
            ", ".join(judgement(case) for case in cases if case["kind"] == kind)
            for cases in columns.values()
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def judgement(case: dict[str, Any]) -> str:
    """How a case's first sentences are judged: right, partly right, or wrong."""
    names_it, not_wrong = case["names_it"], case["not_wrong"]
    if not_wrong["right"] < not_wrong["of"]:
        said = [note.split(":")[0] for note in case["notes"] if "names " in note]
        return f"**wrong** ({said[0]})" if said else "**wrong**"
    if names_it["right"] == names_it["of"]:
        return "right"
    is_refusal = case["due"]["right"] < case["due"]["of"]
    return "refused without need" if is_refusal else "names nothing"


def _summed(kinds: dict[str, dict[str, list[int]]]) -> dict[str, list[int]]:
    return {
        name: [sum(sums[name][place] for sums in kinds.values()) for place in (0, 1)]
        for name in BY_KIND
    }


def _cell(name: str, score: list[int]) -> str:
    right, of = score
    if not of:
        return "none"
    return f"{of}, {right}" if name == "refused" else f"{right:,} of {of:,}"


CAUSES = ("policer", "tail-drop", "aqm", "queue-or-radio", "radio", "not-shown")


def causes(found: dict[str, Any]) -> str:
    """A confusion matrix: a row per kind of link and cause of loss, a column per classification."""
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
    """A row per case: the advice, its forecast, and the kernel's gain."""
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


UNITS = {"message": (1e3, "ms a message"), "goodput": (1e-6, "Mbit/s")}


def remedied(rows: list[dict[str, Any]]) -> str:
    """A row per case and remedy: before it, its forecast, and after it."""
    lines = [
        "| captured link | remedy | before | forecast | on the kernel |",
        "|---|---|---:|---:|---:|",
    ]
    for row in rows:
        cells = [row["case"], row["remedy"]]
        if "measure" not in row:
            why = "not named" if "not_named" in row else "not recorded"
            lines.append(f"| {' | '.join(cells)} | {why} | | |")
            continue
        factor, unit = UNITS[row["measure"]]
        cells += [
            "data arrives" if row[name] is None else f"{factor * row[name]:.3g} {unit}"
            for name in ("before", "forecast", "after")
        ]
        lines.append(f"| {' | '.join(cells)} |")
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
