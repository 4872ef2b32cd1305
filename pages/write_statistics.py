"""Writes the tables of statistics.md: how often a whole comparison is right, by resampling.

    python pages/write_statistics.py [--out out/statistics] [--seeds 60] [--repeats 100]

Every remedy runs on `--seeds` seeds of each link below, and their means count as the truth. Then
tables of few seeds are drawn from these runs without replacement, as a user would have run them,
and their claims are held against the truth. The cells are kept in `--out`: a killed run resumes.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from airtcp.comparison.comparison_plan import comparison_plan
from airtcp.comparison.execute import execute
from airtcp.comparison.ranking import (
    SMALLEST_PERCENT,
    Asker,
    Candidate,
    Direction,
    State,
    rank,
    reach,
)
from airtcp.comparison.sequential import Rounds
from airtcp.comparison.simultaneous import simultaneous
from airtcp.comparison.state_of import state_of
from airtcp.comparison.statistics import ERROR, PairedDifference
from airtcp.core.catalogue import BASELINE

HERE = Path(__file__).resolve().parents[1] / "docs" / "measurements"
DATA = HERE / "statistics.json"
BEGIN = "<!-- tables: python pages/write_statistics.py -->"
END = "<!-- end of the tables -->"
LINKS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "1 % loss, 10 s": ("lossy-pipe", {"link.loss.rate": 0.01, "duration": "10 s"}),
    "1 % loss, 30 s": ("lossy-pipe", {"link.loss.rate": 0.01, "duration": "30 s"}),
    "802.11b, blocks of errors": ("wlan-upload", {"duration": "10 s"}),
    "802.11b, bursts of errors": ("wlan-bursts", {"duration": "10 s"}),
    "ping of Wi-Fi, 0.5 % loss": ("ping", {"link.loss.rate": 0.005, "duration": "30 s"}),
    "selective repeat, 5 s": ("selective-repeat", {"duration": "5 s"}),
    "802.11n, upload, 4 s": ("laptop-upload", {"duration": "4 s"}),
    "802.11n, fading, 10 s": ("far-laptop", {"duration": "10 s"}),
}
FIXED = (2, 3, 5, 10, 20)
PRINTED = ("2", "5", "20", "rounds")
"""The rows of the page; the data have all."""
TOLERANCE = 0.25
"""The truth is a mean of few seeds itself: an effect this near to a bound, in per cent, is no
error."""

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Score:
    """Claims of many tables held against the truth."""

    link: str
    seeds: str
    covered: float
    """Share of the tables with the truth inside every interval."""
    right: float
    """Share of the tables without a wrong claim: no sign is wrong, nothing excluded that counts."""
    shown: float
    """Share of the effects worth having that are shown."""
    excluded: float
    """Share of the effects below half of that which are excluded."""
    found: float
    """Share of the tables that show a remedy within a tenth of the best there is."""
    mean_seeds: float


def main() -> None:
    """Runs missing cases, and writes the page and its data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/statistics"))
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--page", action="store_true", help="the page from the data alone")
    parser.add_argument(
        "--link", action="append", choices=LINKS, help="this link alone; the others' scores stay"
    )
    asked = parser.parse_args()
    kept = [Score(**one) for one in json.loads(DATA.read_text())["scores"]]
    if asked.page:
        write_page(kept)
        return
    scores = []
    for name, (scenario, settings) in LINKS.items():
        if asked.link and name not in asked.link:
            scores += [one for one in kept if one.link == name]
            continue
        values = measured(scenario, settings, asked.seeds, asked.out)
        scores += list(scored(name, values, asked.repeats))
        print(name, "done", flush=True)
    data = {
        "seeds": asked.seeds,
        "repeats": asked.repeats,
        "scores": [asdict(score) for score in scores],
    }
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    write_page(scores)


def write_page(scores: list[Score]) -> None:
    """Puts the table into the page."""
    page = HERE / "statistics.md"
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{table(scores)}\n\n{END}{after}")


def measured(scenario: str, settings: Mapping[str, object], seeds: int, out: Path) -> Values:
    """The goodput of every remedy, seed by seed, in bit/s."""
    planned = comparison_plan(scenario, ["all"], seeds, settings)
    runs = planned.result(execute(planned.plan, out=out))
    return {
        name: np.array([run["goodput_bps"] for run in of_remedy])
        for name, of_remedy in runs.summaries.items()
    }


def scored(link: str, values: Values, repeats: int) -> Iterator[Score]:
    """A link's scores with fixed numbers of seeds, and with rounds."""
    baseline = values[BASELINE]
    truth = {
        name: 100.0 * float((of_remedy - baseline).mean() / baseline.mean())
        for name, of_remedy in values.items()
        if name != BASELINE
    }
    total = len(baseline)
    for seeds in FIXED:
        tables = [drawn(values, order(total, seeds, draw), ERROR) for draw in range(repeats)]
        yield score(link, str(seeds), tables, truth, [seeds] * repeats)
    rounds = Rounds()
    tables, used = [], []
    for draw in range(repeats):
        all_seeds = order(total, rounds.most_seeds, draw)
        for look, seeds in enumerate(rounds.looks):
            table_of = drawn(values, all_seeds[:seeds], rounds.error(look))
            if is_decided(table_of):
                break
        tables.append(table_of)
        used.append(seeds)
    yield score(link, "rounds", tables, truth, used)


def order(total: int, seeds: int, draw: int) -> np.ndarray:
    """Some of the seeds, in random order."""
    return np.random.default_rng((seeds, draw)).choice(total, seeds, replace=False)


def drawn(values: Values, seeds: np.ndarray, error: float) -> dict[str, PairedDifference]:
    """The table that these seeds give."""
    before = values[BASELINE][seeds].tolist()
    pairs = {
        name: (before, of_remedy[seeds].tolist())
        for name, of_remedy in values.items()
        if name != BASELINE
    }
    return simultaneous(pairs, error)


def is_decided(found: Mapping[str, PairedDifference]) -> bool:
    """The rule of the rounds, for someone who may change all of the path."""
    candidates = [
        Candidate(name, by.mean_percent or 0.0, by.interval_percent, known(by))
        for name, by in found.items()
    ]
    return rank(candidates, reach([Asker.ALL], Direction.UP)).is_decided


def known(by: PairedDifference) -> State:
    """The state of a difference."""
    return state_of(by)


def helps(by: PairedDifference) -> bool:
    """Shown to help."""
    return known(by) is State.SHOWN and by.mean > 0


def score(
    link: str,
    seeds: str,
    tables: list[dict[str, PairedDifference]],
    truth: Mapping[str, float],
    used: list[int],
) -> Score:
    """The claims of many tables against the truth."""
    covered = right = shown = worth = excluded = small = found = 0
    best = max(truth.values())
    for one in tables:
        states = {name: known(by) for name, by in one.items()}
        covered += all(holds(by, truth[name]) for name, by in one.items())
        right += not any(
            is_wrong(states[name], by, truth[name], TOLERANCE) for name, by in one.items()
        )
        for name, effect in truth.items():
            worth += abs(effect) > SMALLEST_PERCENT
            shown += abs(effect) > SMALLEST_PERCENT and states[name] is State.SHOWN
            small += abs(effect) < SMALLEST_PERCENT / 2
            excluded += abs(effect) < SMALLEST_PERCENT / 2 and states[name] is State.EXCLUDED
        helpful = [name for name, by in one.items() if helps(by)]
        found += any(100 + truth[name] >= 0.9 * (100 + best) for name in helpful)
    number = len(tables)
    return Score(
        link,
        seeds,
        covered / number,
        right / number,
        shown / max(worth, 1),
        excluded / max(small, 1),
        found / number,
        float(np.mean(used)),
    )


def holds(by: PairedDifference, effect: float) -> bool:
    """Whether an interval holds the truth."""
    interval = by.interval_percent
    if interval is None:
        return True  # no interval, no claim
    return interval[0] <= effect <= interval[1]


def is_wrong(known_as: State, by: PairedDifference, effect: float, tolerance: float) -> bool:
    """Whether a claim contradicts the truth."""
    if known_as is State.EXCLUDED:
        return abs(effect) > SMALLEST_PERCENT + tolerance
    if known_as is State.SHOWN:
        return by.mean * effect < 0 and abs(effect) > tolerance
    return False


def table(scores: list[Score]) -> str:
    """The scores as a table."""
    lines = [
        "| link | seeds | all intervals hold | no claim is wrong | effects > 1 % shown | "
        "effects < 0.5 % excluded | best found |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in scores:
        if one.seeds not in PRINTED:
            continue
        seeds = one.seeds if one.seeds != "rounds" else f"rounds, {one.mean_seeds:.0f} in the mean"
        shares = " | ".join(
            f"{100 * share:.0f} %"
            for share in (one.covered, one.right, one.shown, one.excluded, one.found)
        )
        lines.append(f"| {one.link} | {seeds} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
