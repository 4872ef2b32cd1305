#!/usr/bin/env python3
"""Scores the causes that `airtcp diagnose` finds for losses, on captures of the simulator.

    tests/captures/queues.py FOLDER --half development
    tests/captures/queues.py FOLDER --half kept --json docs/measurements/diagnose.json
    tests/captures/queues.py FOLDER --half kept --answers      the first sentences, too

The kinds are easily confused with a radio: a policer, a queue that keeps its delay short, a queue
filled by others, in the capture or outside it, and each together with a radio. The simulator knows
the fate of every packet. The halves differ in rates, delays, bursts, loss and seeds. Captures are
kept in FOLDER, and existing ones are not written again.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from pcapng import only_port

import airtcp
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture

SECONDS = 30
CAUSES = ("policer", "tail-drop", "aqm", "queue-or-radio", "radio", "not-shown")
LOST_TO = {"queue-drop": "queue", "link-loss": "radio"}


@dataclass(frozen=True)
class Case:
    """A link, and who sends over it."""

    kind: str
    name: str
    settings: dict[str, str]
    seed: int
    queue: str = "tail-drop"
    """The name of the queue's losses."""
    is_hidden: bool = False
    """The other flows are not in the capture."""


@dataclass(frozen=True)
class Numbers:
    """Parameters that differ between the halves."""

    seed: int
    policers: tuple[tuple[str, str, str], ...]
    """Rate, burst, one-way delay."""
    links: tuple[tuple[str, str, str], ...]
    """Rate, one-way delay, packets of queue."""
    loss: str
    bursts: dict[str, str]
    retrying: tuple[tuple[str, str], ...]
    """Name, chance that a frame is damaged in a bad time."""
    profiles: tuple[str, ...] = ("linux", "linux-reno")


def _bursts(good_to_bad: str, bad_to_good: str, loss_in_bad: str) -> dict[str, str]:
    return {
        "link.loss.model": "gilbert-elliott",
        "link.loss.good_to_bad": good_to_bad,
        "link.loss.bad_to_good": bad_to_good,
        "link.loss.loss_in_bad": loss_in_bad,
    }


HALVES = {
    "development": Numbers(
        1,
        (("5 Mbit/s", "60 kB", "20 ms"), ("12 Mbit/s", "300 kB", "40 ms")),
        (("10 Mbit/s", "25 ms", "100"), ("4 Mbit/s", "50 ms", "60")),
        "0.002",
        _bursts("0.001", "0.1", "0.5"),
        (("retries 90", "0.9"),),
    ),
    "kept": Numbers(
        501,
        (("6 Mbit/s", "80 kB", "25 ms"), ("15 Mbit/s", "400 kB", "35 ms")),
        (("8 Mbit/s", "35 ms", "70"), ("12 Mbit/s", "20 ms", "150")),
        "0.003",
        _bursts("0.0007", "0.15", "0.7"),
        (("retries 95", "0.95"),),
    ),
}


def cases(half: str) -> Iterator[Case]:
    """The cases of a half."""
    numbers = HALVES[half]
    for place, (rate, burst, delay) in enumerate(numbers.policers):
        policed = {"link.rate": "100 Mbit/s", "link.delay": delay}
        policed |= {"link.policer.rate": rate, "link.policer.burst": burst}
        for profile in numbers.profiles:
            name = f"policer {rate} {burst} {profile}"
            settings = policed | {"tcp.profile": profile}
            yield Case("policer", name, settings, numbers.seed + place, "policer")
        lossy = policed | {"tcp.profile": "linux", "link.loss.rate": numbers.loss}
        name = f"policer and radio {rate}"
        yield Case("policer and radio", name, lossy, numbers.seed + place, "policer")
    for place, (rate, delay, packets) in enumerate(numbers.links):
        plain = {"link.rate": rate, "link.delay": delay, "link.queue.packets": packets}
        yield from _on_link(numbers, place, plain)
    yield from _retrying(numbers)


def _retrying(numbers: Numbers) -> Iterator[Case]:
    """A radio that retries damaged frames: a packet it finally gives up has waited long."""
    for name, bad in numbers.retrying:
        wlan = {"topology": "wlan", "wlan.standard": "802.11b", "wlan.rate": "11 Mbit/s"}
        wlan |= {"wlan.basic_rate": "1 Mbit/s", "wlan.queue.packets": "50"}
        wlan |= {"wlan.retry_limit": "4", "wlan.loss.model": "gilbert-elliott"}
        wlan |= {"wlan.loss.loss_in_good": "0", "wlan.loss.loss_in_bad": bad}
        wlan |= {"wlan.loss.good_to_bad": "0.01", "wlan.loss.bad_to_good": "0.15"}
        wlan |= {"wired.rate": "100 Mbit/s", "wired.delay": "15 ms", "flows.direction": "up"}
        for profile in numbers.profiles:
            settings = wlan | {"tcp.profile": profile}
            yield Case("radio that retries", f"{name} {profile}", settings, numbers.seed)


def _on_link(numbers: Numbers, place: int, plain: dict[str, str]) -> Iterator[Case]:
    rate = plain["link.rate"]
    seed = numbers.seed + 10 * place
    lossy = {"link.loss.rate": numbers.loss}
    managed = plain | {"link.queue.packets": "1000"}
    for profile in numbers.profiles:
        stack = {"tcp.profile": profile}
        name = f"{rate} {profile}"
        yield Case("full queue", f"full queue {name}", plain | stack, seed)
        yield Case("radio", f"radio {name}", plain | stack | lossy, seed)
        bursts = plain | stack | numbers.bursts
        yield Case("radio in bursts", f"bursts {name}", bursts, seed)
        for discipline in ("codel", "fq-codel"):
            aqm = managed | stack | {"link.aqm.discipline": discipline}
            yield Case("AQM", f"{discipline} {name}", aqm, seed, "aqm")
        both = managed | stack | lossy | {"link.aqm.discipline": "codel"}
        yield Case("AQM and radio", f"codel and radio {name}", both, seed, "aqm")
        shared = plain | stack | {"flows.count": "2", "flows.start_spread": "3 s"}
        yield Case("shared, seen", f"shared {name}", shared, seed)
        many = shared | {"flows.count": "4"}
        yield Case("shared, hidden", f"shared hidden {name}", many, seed, is_hidden=True)


@dataclass
class Score:
    """Losses of a kind: causes found, by true cause."""

    taken_for: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, truth: str, called: str) -> None:
        """Counts a loss."""
        self.taken_for.setdefault(truth, Counter())[called] += 1


def main() -> None:
    """Scores the cases of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=tuple(HALVES), default="development")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--answers", action="store_true", help="the whole diagnosis, too")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    scores: dict[str, Score] = {}
    for case in cases(options.half):
        if not all(word in case.name for word in options.only):
            continue
        capture = written(case, options.folder / options.half)
        score = scores.setdefault(case.kind, Score())
        line = compared(case, capture, score)
        print(f"{case.name:40s} {line}", flush=True)
        if options.answers:
            print(f"    {diagnosed(read_capture(capture, 1, None), 'all').headline}", flush=True)
    print()
    for kind, score in scores.items():
        for truth, counts in sorted(score.taken_for.items()):
            print(f"{kind:20s} {truth:10s} {_shown(counts)}")
    if options.json:
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        matrix = {kind: {t: dict(c) for t, c in s.taken_for.items()} for kind, s in scores.items()}
        found.setdefault("causes", {})[options.half] = matrix
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def written(case: Case, folder: Path) -> Path:
    """The case's capture at the sender; the fates of its first flow are written next to it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name.replace(' ', '-').replace('/', 'p')}.pcapng"
    if not path.exists():
        toml = f'name = "capture"\nduration = "{SECONDS} s"\n'
        run = airtcp.run(toml, case.seed, case.settings, pcap=path)
        events = run.events.with_columns(pl.col("event").cast(pl.String))
        lost = events.filter((pl.col("flow") == 0) & pl.col("event").is_in(list(LOST_TO)))
        lost.select("time_s", "event", "offset").write_parquet(path.with_suffix(".parquet"))
        if case.is_hidden:
            only_port(path, flow=0)
    return path


def compared(case: Case, path: Path, score: Score) -> str:
    """Adds the losses of a case to its kind's score; a line about them."""
    capture = read_capture(path, 1, None)
    lost = pl.read_parquet(path.with_suffix(".parquet"))
    # The n-th loss of the bytes from an offset on is the cause of their n-th retransmission.
    order = pl.int_range(pl.len()).over("offset").alias("nth")
    truth = lost.sort("time_s").with_columns(order)
    named = capture.labels.filter(pl.col("loss").is_not_null()).sort("time_ns")
    named = named.rename({"start": "offset"}).with_columns(order)
    joined = truth.join(named, on=["offset", "nth"], how="inner")
    counts: dict[str, Counter[str]] = {}
    for event, called in joined.select("event", "loss").iter_rows():
        true = case.queue if LOST_TO[event] == "queue" else "radio"
        score.add(true, called)
        counts.setdefault(true, Counter())[called] += 1
    facts = capture.facts
    queues = facts["queues"] if facts else None
    shown = "; ".join(f"{true}: {_shown(one)}" for true, one in counts.items())
    extra = ""
    if queues and queues["policer_bps"]:
        extra = f" policer {queues['policer_bps'] / 1e6:.2f} Mbit/s"
        extra += f" {queues['policer_burst_bytes']:.0f} B"
    if queues and queues["aqm_delay_ns"]:
        extra += (
            f" AQM above {queues['aqm_least_delay_ns'] / 1e6:.1f} to "
            f"{queues['aqm_delay_ns'] / 1e6:.1f} ms ({queues['aqm_likelihood']:.2f})"
        )
    if queues and queues["is_shared"]:
        extra += " shared"
    return f"{shown} [{joined.height} of {lost.height}]{extra}"


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in CAUSES if counts[name]) or "none"


if __name__ == "__main__":
    main()
