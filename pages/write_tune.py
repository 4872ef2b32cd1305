"""Tunes five links with a known best setting, and writes the table of docs/guides/tune.md.

    python pages/write_tune.py            # runs them: minutes
    python pages/write_tune.py --stored   # renders docs/measurements/tune.json again

The known best is found without a search: the remedy runs at each value of a list, on separate
seeds, and theory gives the place of the best.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import airtcp
from airtcp.comparison.everything import applicable
from airtcp.comparison.words import amount
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp
from airtcp.tuning.search import SEEDS as SEARCHED

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "measurements" / "tune.json"
PAGE = ROOT / "docs" / "guides" / "tune.md"
MARK = "tuned"
MAX_CPU_S = 40.0
MAX_SEEDS = 16
SCANNED = tuple(range(2_000_001, 2_000_005))
"""Seeds of the lists, which differ from the seeds of the search and of the final comparison."""


@dataclass(frozen=True)
class Link:
    """A link, and the list that finds its best."""

    words: str
    why: str
    """Where the best must be, by theory."""
    scenario: str
    settings: dict[str, object]
    remedy: str
    parameter: str
    values: tuple[str, ...]
    can: str
    metric: str = "goodput"
    harmful: bool = False


LINKS = (
    Link(
        "queue of 1000 packets at 10 Mbit/s",
        "a managed queue, with a shaper at most at the link's rate",
        "lossy-pipe",
        {
            "duration": "8 s",
            "link.queue.packets": 1000,
            "link.loss.rate": 0,
            "flows.under_load": ["ping", "exchange", "call"],
        },
        "cake",
        "rate",
        (*(f"{rate}" for rate in range(5000, 11001, 500)), "unlimited"),
        "access-point",
        metric="power",
    ),
    Link(
        "802.11b that damages 15 frames in a row",
        "more attempts than damaged frames",
        "wlan-upload",
        {"duration": "10 s"},
        "inf-retry",
        "attempts",
        ("2", "4", "6", "8", "10", "12", "14", "16", "20", "24", "32", "unlimited"),
        "all",
    ),
    Link(
        "send buffer of 64 kB at 200 ms",
        "at least twice the bandwidth-delay product, 250 kB, as Linux counts a buffer",
        "lossy-pipe",
        {
            "duration": "8 s",
            "link.delay": "100 ms",
            "link.loss.rate": 0,
            "tcp.send_buffer": "64 kB",
        },
        "send-buffer",
        "bytes",
        ("65536", "131072", "262144", "393216", "524288", "786432", "1048576", "4194304"),
        "sender",
        harmful=True,
    ),
    Link(
        "round trips with spikes, ns-2's NewReno",
        "a timeout above the spikes",
        "ping",
        {"duration": "60 s", "tcp.profile": "ns2-newreno", "tcp.min_rto": "20 ms"},
        "rto-factor",
        "factor",
        ("2", "3", "4", "6", "8", "10", "12", "16", "24", "32", "64"),
        "sender",
    ),
    Link(
        "802.11b without a retry limit, a minimum timeout of 20 ms",
        "acknowledgments held about as long as a repair takes",
        str(ROOT / "papers" / "delay-injection" / "upload.toml"),
        {
            "duration": "20 s",
            "tcp.mss": 1000,
            "tcp.max_window": 200,
            "tcp.min_rto": "20 ms",
            "wired.delay": "40 ms",
            "wlan.retry_limit": "unlimited",
            "wlan.loss.lost": 15,
        },
        "static-delay",
        "delay",
        tuple(f"{delay} ms" for delay in (10, 20, 40, 50, 60, 70, 80, 100, 150, 200, 300)),
        "all",
    ),
)


def scanned(link: Link) -> dict[str, Any]:
    """The remedy at each value of the list, in per cent of the scenario as written."""
    texts = [f"{link.remedy}:{link.parameter}={value}" for value in link.values]
    found = airtcp.compare(link.scenario, texts, SCANNED, link.settings, metric=link.metric)
    gains = {
        value: found.decisive[text].mean_percent or 0.0
        for value, text in zip(link.values, texts, strict=True)
    }
    best = max(gains, key=lambda value: gains[value])
    # Values within the smallest effect worth having are as good.
    alike = [value for value in gains if 100 + gains[value] >= 0.99 * (100 + gains[best])]
    return {"best": best, "gain": gains[best], "as_good": alike}


def measured(link: Link) -> dict[str, Any]:
    """Tuning, and the remedy as `compare` tries it on the seeds of tuning's last comparison."""
    tuned = airtcp.tune(
        link.scenario,
        [link.remedy],
        link.settings,
        metric=link.metric,
        can=link.can,
        harmful=link.harmful,
        max_cpu_s=MAX_CPU_S,
        max_seeds=MAX_SEEDS,
    )
    assert not set(tuned.comparison.seeds) & {*SEARCHED, *SCANNED}
    own = tuned.comparison.best
    seeds = tuned.comparison.seeds
    taken = applicable(airtcp.load_scenario(link.scenario, link.settings)).taken
    (sized,) = [one for one in taken if one.partition(":")[0] == link.remedy]
    plain = airtcp.compare(link.scenario, sized, seeds, link.settings, metric=link.metric)
    row: dict[str, Any] = {
        "scanned": scanned(link),
        "tuned": own,
        "is_shown": tuned.best is not None,
        "gain": amount(tuned.comparison.decisive[own], sign=True),
        "tried": tuned.tried,
        "seeds": len(seeds),
        "compared": sized,
        "compared_gain": amount(plain.decisive[sized], sign=True),
    }
    return row


def table(data: dict[str, Any]) -> str:
    """One row a link."""
    head = [
        "link",
        "best by theory",
        "best of a list",
        "`tune`",
        "gain",
        "`compare`",
        "gain",
    ]
    rows = [head, ["---"] * 4 + ["---:", "---", "---:"]]
    hit = 0
    for link in LINKS:
        row = data[link.words]
        found = row["scanned"]
        as_good = found["as_good"]
        span = as_good[0] if len(as_good) == 1 else f"{as_good[0]} to {as_good[-1]}"
        hit += row["is_shown"]
        rows.append(
            [
                link.words,
                link.why,
                f"`{link.parameter}` {span}: {found['gain']:+.1f} %",
                f"`{row['tuned']}`" if row["is_shown"] else f"nothing shown (`{row['tuned']}`)",
                row["gain"],
                f"`{row['compared']}`",
                row["compared_gain"],
            ]
        )
    tried = sum(data[link.words]["tried"] for link in LINKS)
    sentence = (
        f"Each search has one remedy and {MAX_CPU_S:g} s of processor time; {tried} settings were "
        f"tried in all, and {hit} of {len(LINKS)} links have a setting shown to help. Lists have "
        f"{len(SCANNED)} other seeds, and name the values within 1 % of their best."
    )
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([sentence, "", *lines])


def main() -> None:
    """Writes the data and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--stored", action="store_true", help="render the stored data again")
    arguments = parser.parse_args()
    data = json.loads(DATA.read_text("utf-8")) if DATA.is_file() else {}
    if not arguments.stored:
        for link in LINKS:
            data[link.words] = measured(link)
            print(link.words, data[link.words], file=sys.stderr, flush=True)
            DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(put(PAGE.read_text("utf-8"), MARK, table(data)), encoding="utf-8")
    if not arguments.stored:
        stamp(ROOT, MARK)


if __name__ == "__main__":
    main()
