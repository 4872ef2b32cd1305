"""Runs each rival on every shipped scenario, and writes its table into docs/measurements/rivals.md.

python pages/write_rivals_everywhere.py --run         # runs everything; half an hour of one core
python pages/write_rivals_everywhere.py --run lte nr  # runs these scenarios; other rows stay
python pages/write_rivals_everywhere.py               # the table from rivals-everywhere.json
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from statistics import mean
from typing import Any

import airtcp
from airtcp import ScenarioError
from airtcp._core import engine_version
from airtcp.core.shipped import shipped
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp
from airtcp.pages.steady_cells import settings_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "rivals.md"
DATA = PAGE.with_name("rivals-everywhere.json")
MARK = "rivals-everywhere"
RIVALS = (
    "quic-recovery",
    "hybla",
    "htcp",
    "yeah",
    "cdg",
    "dctcp",
    "copa",
    "abc",
    "vivace",
    "proteus-p",
    "proteus-s",
    "verus",
    "sprout",
    "sprout-ewma",
    "fec",
    "deliberate-drop",
)
Rows = dict[str, list[float | None] | None]
"""By remedy, "" for the baseline: goodput and delay, or `None` where it has no place."""
SEEDS = range(1, 3)
RUN_S = 20
MEASURES = ("goodput_bps", "delay_p95_ms")


def outcome(scenario: str, remedy: str | None) -> list[float | None] | None:
    """Goodput in bit/s and 95 % of the first flow's delay in ms; `None` where it has no place."""
    remedies = [remedy] if remedy else []
    settings = settings_of(scenario, RUN_S)
    try:
        runs = [
            airtcp.run(scenario, seed, settings, remedies=remedies, events=False) for seed in SEEDS
        ]
    except ScenarioError:
        return None
    goodput = mean(run.summary["goodput_bps"] for run in runs)
    delays = [run.summary["flows"][0]["delay_p95_ms"] for run in runs]
    known = [delay for delay in delays if delay is not None]
    return [goodput, mean(known) if known else None]


def collected(scenarios: Sequence[str]) -> dict[str, Rows]:
    """Each scenario, without a remedy and with each."""
    pairs = [(scenario, remedy) for scenario in scenarios for remedy in (None, *RIVALS)]
    with ThreadPoolExecutor(cpu_count()) as pool:
        found = pool.map(lambda pair: outcome(*pair), pairs)
        rows: dict[str, Rows] = {}
        for (scenario, remedy), values in zip(pairs, found, strict=True):
            rows.setdefault(scenario, {})[remedy or ""] = values
    return rows


def change(value: float | None, reference: float | None) -> str:
    """A relative change; a factor where it is large."""
    if value is None or not reference:
        return "n/a"
    ratio = value / reference
    if ratio >= 2:
        return f"{ratio:.1f} times"
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %" if percent else "0 %"


def table(rows: Mapping[str, Mapping[str, list[float | None] | None]]) -> str:
    """A row for each scenario: goodput and delay without a remedy, and the change with each."""
    lines = [
        f"| scenario | none | {' | '.join(RIVALS)} |",
        "|---|---:|" + "---:|" * len(RIVALS),
    ]
    for scenario, row in rows.items():
        base = row[""]
        if base is None or base[0] is None:
            continue
        delay = "n/a" if base[1] is None else f"{base[1]:.0f} ms"
        cells = [f"{base[0] / 1e6:.3g} Mbit/s, {delay}"]
        for remedy in RIVALS:
            found = row[remedy]
            if found is None:
                cells.append("")
                continue
            pairs = zip(found, base, strict=True)
            cells.append(", ".join(change(value, reference) for value, reference in pairs))
        lines.append(f"| {scenario} | {' | '.join(cells)} |")
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    return put(text, MARK, table(data["rows"]))


def main() -> None:
    """Runs everything with `--run`, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--run", nargs="*", metavar="SCENARIO", help="run these with each rival; all if none"
    )
    wanted = parser.parse_args().run
    if wanted is not None:
        known = json.loads(DATA.read_text("utf-8"))["rows"] if wanted else {}
        rows = known | collected(wanted or list(shipped("scenarios")))
        text = json.dumps({"engine": engine_version, "rows": rows}, indent=1)
        DATA.write_text(text + "\n", encoding="utf-8")
    data = json.loads(DATA.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), data), encoding="utf-8")
    if wanted is not None:
        stamp(ROOT, MARK)


if __name__ == "__main__":
    main()
