"""Writes docs/measurements/sentences.md: first sentences over many links and askers, judged.

python benches/sentences.py --out out/sentences  # runs, and resumes after a kill
python pages/write_sentences.py out/sentences  # with the runs' results
python pages/write_sentences.py --pings out/pings  # with the results of benches/ping_links.py
python pages/write_sentences.py  # only the page, from sentences.json
"""

import argparse
import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airtcp._core import engine_version
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docs" / "measurements"
PAGE, DATA = HERE / "sentences.md", HERE / "sentences.json"
JUDGEMENTS = ("right", "unsure", "undecided", "wrong")
MARKS = ("counts", "wrong", "sentences", "sentence-horizons", "sentence-kernel")
PINGS = "ping-links"


def collected(folder: Path, before: Mapping[str, Any]) -> dict[str, Any]:
    """The judged sentences of today's engine in a folder that benches/sentences.py filled.

    The page's previous counts are kept for comparison.
    """
    sys.path.insert(0, str(ROOT / "benches"))
    program = runpy.run_path(str(ROOT / "benches" / "sentences.py"))
    found = program["found_in"](folder / program["sample_digest"]())
    if not found:
        raise SystemExit(f"{folder}: has nothing of today's engine: run benches/sentences.py")
    return {
        "engine": engine_version,
        "cpu_s": sum(one["cpu_s"] for one in found),
        "before": {"engine": before["engine"], "counts": numbers(before["rows"])},
        "rows": [row for one in found for row in one["rows"]],
        "horizons": [one["horizons"] for one in found if one["horizons"]],
        "kernel": [one["kernel"] for one in found if one["kernel"]],
        "pings": before.get("pings", []),
    }


def collected_pings(folder: Path) -> list[dict[str, Any]]:
    """The kinds of link that benches/ping_links.py has finished in a folder."""
    found: list[dict[str, Any]] = runpy.run_path(str(ROOT / "benches" / "ping_links.py"))[
        "found_in"
    ](folder)
    if not found:
        raise SystemExit(f"{folder}: nothing is finished: run benches/ping_links.py")
    return found


def numbers(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The number of each judgement."""
    return {one: sum(row["judged"] == one for row in rows) for one in JUDGEMENTS}


def counts(data: Mapping[str, Any]) -> str:
    """The number of each judgement, before and now."""
    rows = data["rows"]
    links = len({row["link"] for row in rows})
    found = numbers(rows)
    listed = ", ".join(f"{found[one]} {one}" for one in JUDGEMENTS)
    lines = [f"{len(rows)} first sentences on {links} links: {listed}."]
    if "cpu_s" in data:
        lines[0] += f" It took {data['cpu_s'] / 60:.0f} min of processor time."
    if before := data.get("before"):
        lines += ["", "| judged | before | now |", "|---|---:|---:|"]
        lines += [f"| {one} | {before['counts'][one]} | {found[one]} |" for one in JUDGEMENTS]
    return "\n".join(lines)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each sentence that is not judged right."""
    lines = [
        "| link | asker | first sentence | judged | fresh seeds | in truth |",
        "|---|---|---|---|---:|---|",
    ]
    for row in rows:
        if row["judged"] == "right":
            continue
        why = row["why"].removeprefix("best in truth: ")
        seeds = str(row.get("truth_seeds", 100) or "")
        cells = (row["link"], row["asker"], row["sentence"], row["judged"], seeds, why)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def wrong_ones(rows: Sequence[Mapping[str, Any]]) -> str:
    """The sentences that are wrong, with the reason."""
    wrong = [row for row in rows if row["judged"] == "wrong"]
    if not wrong:
        return "None is wrong."
    return "\n".join(f"- {row['link']}, {row['asker']}: {row['why']}." for row in wrong)


def horizons(rows: Sequence[Mapping[str, Any]]) -> str:
    """The gain of a named remedy over runs of several lengths."""
    if not rows:
        return "Not run yet."
    lines = [
        "| link | remedy | stated gain | half as long | as long | four times | stated horizon |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        gains = [f"{gain:+.1f} ± {half:.1f} %" for gain, half in row["gains"].values()]
        said = "yes" if row["is_said"] else ""
        cells = (row["link"], row["remedy"], f"{row['stated']:+.1f} %", *gains, said)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def kernel(rows: Sequence[Mapping[str, Any]]) -> str:
    """The gain of a remedy that a host can have, on a kernel in virtual time."""
    if not rows:
        return "No kernel was asked."
    lines = [
        f"| link | remedy | stated | Linux {rows[0]['name']} |",
        "|---|---|---:|---|",
    ]
    for row in rows:
        on = f"not tried: {row['why_not']}"
        if row["gain"] is not None:
            half = "" if row["half"] is None else f" ± {row['half']:.1f}"
            on = f"{row['gain']:+.1f}{half} %"
        lines.append(f"| {row['link']} | {row['remedy']} | {row['stated']:+.1f} % | {on} |")
    return "\n".join(lines)


def pings(rows: Sequence[Mapping[str, Any]]) -> str:
    """Goodput and gain on a kernel over a link by its keys, and simulated from its log."""
    if not rows:
        return "Not run yet."
    kernel, remedy, seeds = rows[0]["kernel"], rows[0]["remedy"], rows[0]["seeds"]
    lines = [
        f"| link ({seeds} seeds) | rate | Linux {kernel} on it | simulated from its log | ratio "
        f"| {remedy} on Linux | {remedy} from the log |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        by_keys, by_log = row["by_keys"], row["by_log"]
        rates = [f"{side['goodput_bps'] / 1e6:.2f} Mbit/s" for side in (by_keys, by_log)]
        ratio = f"{by_log['goodput_bps'] / by_keys['goodput_bps']:.3f}"
        gains = [
            f"{side['gain']:+.1f} %" + ("" if side["half"] is None else f" ± {side['half']:.1f} %")
            for side in (by_keys, by_log)
        ]
        lines.append(f"| {' | '.join([row['kind'], row['rate'], *rates, ratio, *gains])} |")
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    rows = data["rows"]
    blocks = (
        counts(data),
        wrong_ones(rows),
        table(rows),
        horizons(data.get("horizons", ())),
        kernel(data.get("kernel", ())),
        pings(data.get("pings", ())),
    )
    for mark, block in zip((*MARKS, PINGS), blocks, strict=True):
        text = put(text, mark, block)
    return text


def main() -> None:
    """Collects a folder if one is given, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="what benches/sentences.py filled")
    parser.add_argument("--pings", type=Path, help="what benches/ping_links.py filled")
    asked = parser.parse_args()
    data = json.loads(DATA.read_text("utf-8"))
    made: list[str] = []
    if asked.folder:
        data = collected(asked.folder, data)
        made += MARKS
    if asked.pings:
        data["pings"] = collected_pings(asked.pings)
        made.append(PINGS)
    if made:
        text = json.dumps(data, indent=1, ensure_ascii=False)
        DATA.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), data), encoding="utf-8")
    if made:
        stamp(ROOT, *made)


if __name__ == "__main__":
    main()
