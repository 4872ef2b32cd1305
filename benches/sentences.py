"""First sentences over many links and askers, judged against runs with a hundred seeds.

    python benches/sentences.py [--out out/sentences] [--truth 100] [--only NAME,NAME]
    python docs/measurements/write_sentences.py    # sentences.md from sentences.json, beside it

For each link `compare` answers as a user has it, in rounds, for each of four askers. Then the
headline is judged by the means of `--truth` other seeds:

- a named remedy is *right* if the asker can deploy it, if its true gain lies in the stated
  interval, and if no other that the asker can deploy is shown by these seeds to bring more than it
  by over 1 %, or by over half the interval that is stated. Where it was named for its lesser harm
  a tenth is allowed; a remedy of which the sentence says that it may bring more, may;
- "nothing helps" is right if nothing that the asker can deploy brings more than 1 % in truth;
- "undecided" is neither: it is counted separately.

The truth has an interval of its own, which is allowed everywhere. Of remedies that were the same on
every seed of the answer one runs for the truth, and each that a sentence names. Finished cells and
links are kept in `--out`, so that it can be run in parts and resumed after a kill.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from airtcp import shipped
from airtcp.catalogue import BASELINE
from airtcp.ranking import SMALLEST_PERCENT, Candidate
from airtcp.ranking.best import NEARLY_AS_GOOD
from airtcp.study.answer import answer
from airtcp.study.compare import ComparedRuns
from airtcp.study.run_comparison import run_comparison
from airtcp.study.sequential import Rounds
from airtcp.study.statistics import paired_difference

ASKERS = ("my-machine", "server", "access-point", "all")
ROUNDS = Rounds(most_cpu_s=3600.0)
"""As a user has it, but for the bound on time: the table is the same on every machine."""
TRUTH_SEEDS = 100
FIRST_TRUE_SEED = 1001
"""Seeds that no answer has seen."""

Settings = Mapping[str, object]


def pipes() -> Iterator[tuple[str, str, Settings]]:
    """Pipes: losses, rates, delays, queues."""
    for loss in (0.001, 0.003, 0.01, 0.03):
        yield f"pipe-loss-{loss:g}", "lossy-pipe", {"link.loss.rate": loss, "duration": "10 s"}
    for rate in ("2 Mbit/s", "50 Mbit/s"):
        name = rate.split()[0]
        settings = {"link.loss.rate": 0.005, "link.rate": rate, "duration": "10 s"}
        yield f"pipe-{name}mbit", "lossy-pipe", settings
    for delay in ("5 ms", "100 ms"):
        settings = {"link.loss.rate": 0.005, "link.delay": delay, "duration": "10 s"}
        yield f"pipe-{delay.replace(' ', '')}", "lossy-pipe", settings
    for packets in (10, 1000):
        settings = {"link.queue.packets": packets, "link.loss.rate": 0.002, "duration": "10 s"}
        yield f"pipe-queue-{packets}", "lossy-pipe", settings
    for bad, name in ((0.05, "short"), (0.005, "rare")):
        settings = {
            "link.loss.model": "gilbert-elliott",
            "link.loss.good_to_bad": bad / 10,
            "link.loss.bad_to_good": 0.2,
            "duration": "10 s",
        }
        yield f"pipe-bursts-{name}", "lossy-pipe", settings
    yield "pipe-no-loss", "lossy-pipe", {"duration": "10 s"}
    flows = {"flows.count": 3, "link.loss.rate": 0.003, "duration": "10 s"}
    yield "pipe-three-flows", "lossy-pipe", flows


def stopping() -> Iterator[tuple[str, str, Settings]]:
    """Links that stop, and recorded ones."""
    yield "stops-periodic", "wifi-suspension", {"duration": "20 s"}
    yield (
        "stops-long",
        "wifi-suspension",
        {"duration": "20 s", "link.suspension.length": "1 s", "link.loss.rate": 0.001},
    )
    yield (
        "stops-random",
        "lossy-pipe",
        {
            "link.stops.process": "random",
            "link.stops.working": "3 s",
            "link.stops.length": "400 ms",
            "link.loss.rate": 0.001,
            "duration": "20 s",
        },
    )
    for log in ("wifi-spikes", "cellular-slow"):
        for loss in (0.0, 0.005, 0.02):
            settings = {"link.loss.rate": loss, "duration": "30 s"}
            yield f"{log}-{loss:g}", "ping", {"link.rtt_log.path": log} | settings
    yield "cellular-trace", "cellular", {"duration": "15 s", "link.loss.rate": 0.001}
    yield "cellular-lossy", "cellular", {"duration": "15 s", "link.loss.rate": 0.01}
    yield "cellular-shallow", "cellular", {"duration": "15 s", "link.queue.packets": 30}


def radios() -> Iterator[tuple[str, str, Settings]]:
    """802.11, ARQ and a cell."""
    for standard, rate in (("802.11b", "11 Mbit/s"), ("802.11g", "54 Mbit/s")):
        for loss in (0.1, 0.4):
            settings = {
                "wlan.standard": standard,
                "wlan.rate": rate,
                "wlan.loss.rate": loss,
                "wlan.retry_limit": 4,
                "duration": "8 s",
            }
            for way in ("up", "down"):
                name = f"{standard[4:]}-{loss:g}-{way}"
                yield name, "two-way-wlan", settings | {"flows.direction": way}
    yield "wlan-blocks", "wlan-upload", {"duration": "10 s"}
    yield "wlan-blocks-down", "wlan-upload", {"duration": "10 s", "flows.direction": "down"}
    yield "wlan-bursts", "wlan-bursts", {"duration": "10 s"}
    yield "arq", "arq-download", {"duration": "10 s"}
    yield "selective-repeat", "selective-repeat", {"duration": "5 s"}
    yield "cell", "cell", {"duration": "10 s"}


def today() -> Iterator[tuple[str, str, Settings]]:
    """802.11n to ax: aggregates, block acknowledgments, several stations."""
    yield "laptop-upload", "laptop-upload", {"duration": "4 s"}
    yield "laptop-download", "laptop-download", {"duration": "2 s"}
    yield "household", "household", {"duration": "3 s"}
    yield "slow-station", "slow-station", {"duration": "4 s"}
    yield "crowded-cell", "crowded-cell", {"duration": "2 s"}


WLAN = """
name = "two-way-wlan"
description = "One mobile on an 802.11 channel that damages frames"
topology = "wlan"
wired.delay = "15 ms"
tcp.profile = "linux"
"""
"""A link without a scenario of its own: standard, loss and direction are set."""


def links() -> dict[str, tuple[str, Settings]]:
    """Every link by name: the scenario and its settings."""
    found = {}
    for name, scenario, settings in (*pipes(), *stopping(), *radios(), *today()):
        text = WLAN if scenario == "two-way-wlan" else scenario
        if log := settings.get("link.rtt_log.path"):
            path = shipped.folder("recordings") / f"{log}.ping"
            settings = {**settings, "link.rtt_log.path": str(path)}
        found[name] = (text, settings)
    return found


@dataclass(frozen=True)
class Judged:
    """One first sentence, and whether it holds."""

    link: str
    asker: str
    sentence: str
    seeds: int
    named: str | None
    judged: str
    """right, wrong or undecided"""
    why: str


def main() -> None:
    """Answers, runs the truth, judges, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/sentences"))
    parser.add_argument("--truth", type=int, default=TRUTH_SEEDS)
    parser.add_argument("--only", default="", help="links, with commas")
    parser.add_argument("--table", type=Path, help="writes the table there too")
    parser.add_argument("--list", action="store_true", help="prints the links alone")
    asked = parser.parse_args()
    every = links()
    if asked.list:
        print("\n".join(every))
        return
    chosen = asked.only.split(",") if asked.only else list(every)
    asked.out.mkdir(parents=True, exist_ok=True)
    rows: list[Judged] = []
    for name in chosen:
        kept = asked.out / f"{name}-{asked.truth}.json"
        if kept.exists():
            rows += [Judged(**row) for row in json.loads(kept.read_text())]
            continue
        found = judged_link(name, *every[name], asked.out, asked.truth)
        kept.write_text(json.dumps([asdict(row) for row in found], indent=1))
        rows += found
        print(f"{name}: {', '.join(row.judged for row in found)}", flush=True)
    text = table(rows)
    print(text)
    if asked.table:
        asked.table.write_text(text + "\n")


def judged_link(
    name: str, scenario: str, settings: Settings, out: Path, seeds: int
) -> list[Judged]:
    """The first sentence of each asker on a link."""
    said = {
        asker: run_comparison(
            scenario, settings=settings, out=out / name, can=asker, rounds=ROUNDS, harm=True
        )
        for asker in ASKERS
    }
    truth = run_comparison(
        scenario,
        one_of_each(list(said.values())),
        seeds=range(FIRST_TRUE_SEED, FIRST_TRUE_SEED + seeds),
        settings=settings,
        out=out / name,
    )
    return [judge(name, asker, one, truth) for asker, one in said.items()]


def true_gains(said: ComparedRuns, truth: ComparedRuns) -> dict[str, float]:
    """The true gain of each remedy that the asker can deploy, in per cent.

    One without runs of its own has those of the remedy that was the same on every seed.
    """
    gains = {}
    for one in said.ranking.deployable:
        names = (one.remedy, *said.alike[one.remedy])
        known = next((name for name in names if name in truth.candidates), None)
        if known is not None:
            gains[one.remedy] = truth.candidates[known].gain
    return gains


def one_of_each(said: Sequence[ComparedRuns]) -> list[str]:
    """The remedies whose truth is needed: of those that are the same on every seed, one.

    Of those that a sentence names each has runs of its own.
    """
    most = max(said, key=lambda one: len(one.seeds))
    named = [one.ranking.best.remedy for one in said if one.ranking.best is not None]
    first = [names[0] for names in most.alike.values()]
    return list(dict.fromkeys([*first, *named]))


def judge(link: str, asker: str, said: ComparedRuns, truth: ComparedRuns) -> Judged:
    """A first sentence against the truth."""
    ranking = said.ranking
    gains = true_gains(said, truth)
    first = max(gains, key=lambda remedy: gains[remedy]) if gains else "nothing"
    most = gains.get(first, 0.0)
    best = f"best in truth: {first} {most:+.1f} %"

    def found(named: str | None, judged: str, why: str) -> Judged:
        return Judged(link, asker, answer(said)[0], len(said.seeds), named, judged, why)

    if ranking.best is not None:
        why = wrong_name(said, ranking.best, gains, truth)
        return found(ranking.best.remedy, "wrong" if why else "right", why or best)
    if ranking.nothing_helps:
        is_right = most - unsure(truth, first) <= SMALLEST_PERCENT
        return found(None, "right" if is_right else "wrong", best)
    return found(None, "undecided", best)


def wrong_name(
    said: ComparedRuns, named: Candidate, gains: Mapping[str, float], truth: ComparedRuns
) -> str:
    """Why a named remedy is wrong; empty where it is right."""
    true = gains[named.remedy]
    low, high = named.interval or (named.gain, named.gain)
    own = unsure(truth, named.remedy) + 1e-9
    if not low - own <= true <= high + own:
        return f"its gain is {true:+.1f} %, outside of {low:.1f} to {high:.1f} %"
    best = max(gains, key=lambda remedy: gains[remedy])
    allowed = max(SMALLEST_PERCENT, (high - low) / 2)
    if said.ranking.larger_with_harm is not None:
        allowed = max(allowed, (1 - NEARLY_AS_GOOD) * (100 + gains[best]))
    may_bring_more = {one.remedy for one in said.ranking.undecided if one.gain > named.gain}
    for remedy in gains:
        if remedy not in may_bring_more and surely_better(truth, remedy, named.remedy) > allowed:
            return f"{remedy} brings {gains[remedy]:+.1f} %, it {true:+.1f} %"
    return ""


def surely_better(truth: ComparedRuns, remedy: str, named: str) -> float:
    """By how much a remedy is better at least, in per cent of the baseline: the interval's end."""
    values = {name: truth.values(name, "goodput_bps") for name in (BASELINE, remedy, named)}
    if not values[remedy] or not values[named]:
        return 0.0  # the same as another, which has runs
    by = paired_difference(values[named], values[remedy])
    return 100.0 * (by.mean - (by.half_width or 0.0)) / fmean(values[BASELINE])


def unsure(truth: ComparedRuns, remedy: str) -> float:
    """Half the interval of the truth itself, of this remedy alone, in per cent."""
    if remedy not in truth.decisive:
        return 0.0
    before = truth.values(BASELINE, "goodput_bps")
    alone = paired_difference(before, truth.values(remedy, "goodput_bps"))
    return alone.half_width_percent or 0.0


def table(rows: list[Judged]) -> str:
    """The table, and the count of each judgement."""
    counts = {
        judged: sum(row.judged == judged for row in rows)
        for judged in ("right", "undecided", "wrong")
    }
    head = ", ".join(f"{number} {judged}" for judged, number in counts.items())
    lines = [
        f"{len(rows)} first sentences: {head}.",
        "",
        "| link | asker | first sentence | seeds | judged | why |",
        "|---|---|---|---:|---|---|",
    ]
    lines += [
        f"| {row.link} | {row.asker} | {row.sentence} | {row.seeds} | {row.judged} | {row.why} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
