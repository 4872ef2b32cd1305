#!/usr/bin/env python3
"""Scores `airtcp diagnose` on the recorded corpus against the truth, compared with tshark.

    tests/captures/score.py FOLDER --half development
    tests/captures/score.py FOLDER --half kept --json docs/measurements/diagnose.json

Prints a line a case and the totals; with --json, writes them.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from answers import AT_RECEIVER, Right, judged, right
from cases import Case, halves
from record import folder_of, is_in_time
from truth import Truth, bits_of, seconds_of
from tshark import labels as labels_of_tshark

from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.observed import observed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis

MSS_BITS = 8 * 1500
STEP = (10e6, 2e6)
"""The rate before and after its step (record.py)."""


@dataclass
class Tally:
    """Right ones of all."""

    right: int = 0
    of: int = 0

    def add(self, is_right: bool, count: int = 1) -> None:
        """Counts one more."""
        self.right += count * is_right
        self.of += count

    @property
    def words(self) -> str:
        """As in a table."""
        share = f" ({100 * self.right / self.of:.1f} %)" if self.of else ""
        return f"{self.right} of {self.of}{share}"


@dataclass
class Score:
    """A case's figures."""

    case: str
    kind: str
    needed: Tally = field(default_factory=Tally)
    needless: Tally = field(default_factory=Tally)
    cause: Tally = field(default_factory=Tally)
    at_receiver: Tally = field(default_factory=Tally)
    timeouts: Tally = field(default_factory=Tally)
    stops: Tally = field(default_factory=Tally)
    false_stops: Tally = field(default_factory=Tally)
    rate: Tally = field(default_factory=Tally)
    base_rtt: Tally = field(default_factory=Tally)
    loss: Tally = field(default_factory=Tally)
    loss_interval: Tally = field(default_factory=Tally)
    rate_from_receiver: Tally = field(default_factory=Tally)
    base_from_receiver: Tally = field(default_factory=Tally)
    loss_from_receiver: Tally = field(default_factory=Tally)
    replayed: Tally = field(default_factory=Tally)
    modelled: Tally = field(default_factory=Tally)
    tshark_found: Tally = field(default_factory=Tally)
    tshark_needless: Tally = field(default_factory=Tally)
    names_it: Tally = field(default_factory=Tally)
    not_wrong: Tally = field(default_factory=Tally)
    due: Tally = field(default_factory=Tally)
    """Refusals that were due, of all."""
    sentence: str = ""
    notes: list[str] = field(default_factory=list)


MEASURES: dict[str, str] = {
    "needed": "needed retransmissions called so",
    "needless": "needless retransmissions called so",
    "cause": "cause of a retransmission",
    "at_receiver": "needed or needless, capture at the receiver",
    "timeouts": "captures whose timeouts equal the kernel's counter",
    "stops": "stops found",
    "false_stops": "stops found that were none",
    "rate": "rate within 3 %",
    "base_rtt": "base round trip within 3 %",
    "loss": "loss within 10 %",
    "loss_interval": "chance of loss within its 95 % interval",
    "rate_from_receiver": "rate within 3 %, capture at the receiver",
    "base_from_receiver": "base round trip within 3 %, capture at the receiver",
    "loss_from_receiver": "loss within 10 %, capture at the receiver",
    "replayed": "captures that the played-back link gives back",
    "modelled": "of those, inside the 95 % interval of the process",
    "tshark_found": "retransmissions that tshark finds",
    "tshark_needless": "needless ones that tshark finds",
    "names_it": "first sentences that name what limits the flow",
    "not_wrong": "first sentences that name nothing else",
    "due": "refusals that were due",
}


def main() -> None:
    """Scores the cases of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("development", "kept"), default="development")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--kind", action="append", default=[], metavar="KIND")
    parser.add_argument("--labels", action="store_true", help="no links, which take longest")
    parser.add_argument("--late", action="store_true", help="score what was late, too")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    development, kept = halves()
    chosen = development if options.half == "development" else kept
    scores: list[Score] = []
    late: list[str] = []
    for case in chosen:
        folder = folder_of(options.folder, case)
        if options.kind and case.kind not in options.kind:
            continue
        if not folder.exists() or not all(word in case.name for word in options.only):
            continue
        if not is_in_time(folder):
            late.append(case.name)
            if not options.late:
                continue
        score = score_of(Truth(case, folder), has_links=not options.labels)
        scores.append(score)
        print(line_of(score), flush=True)
        if options.json:
            write(options.json, options.half, scores, len(late) if options.late else 0)
    left = "scored all the same" if options.late else "left out"
    print(f"\n{len(late)} captures were recorded late: {left}" if late else "")
    for name, words in MEASURES.items():
        print(f"{words}: {total(scores, name).words}")


def write(file: Path, half: str, scores: list[Score], late: int) -> None:
    """Puts the figures of a half into a file; earlier cases that were not scored again stay."""
    found = json.loads(file.read_text()) if file.exists() else {}
    before = [_score(one) for one in found.get(half, {}).get("cases", [])]
    done = {score.case: score for score in [*before, *scores]}
    # In the order of the corpus, and without cases that it no longer has.
    whole = [done[case.name] for cases in halves() for case in cases if case.name in done]
    found["words"] = MEASURES
    found[half] = {
        "captures": len(whole),
        "late": late,
        "totals": {name: asdict(total(whole, name)) for name in MEASURES},
        "cases": [asdict(score) for score in whole],
    }
    file.write_text(json.dumps(found, indent=1) + "\n")


def _score(written: dict[str, Any]) -> Score:
    tallies = {name: Tally(**written[name]) for name in MEASURES if name in written}
    sentence = written.get("sentence", "")
    return Score(
        written["case"], written["kind"], notes=written["notes"], sentence=sentence, **tallies
    )


def total(scores: Iterable[Score], name: str) -> Tally:
    """The sum of a measure over the cases."""
    whole = Tally()
    for score in scores:
        one: Tally = getattr(score, name)
        whole.right += one.right
        whole.of += one.of
    return whole


def line_of(score: Score) -> str:
    """A case in a line."""
    parts = [
        f"{name} {tally.right}/{tally.of}"
        for name in MEASURES
        for tally in [getattr(score, name)]
        if tally.of
    ]
    return f"{score.case:36s} {' '.join(parts)} {'; '.join(score.notes)}"


def score_of(truth: Truth, has_links: bool) -> Score:
    """All figures of a case; without links, those of the labels only."""
    score = Score(truth.case.name, truth.case.kind)
    capture = read_capture(truth.sender_side, None, None)
    if capture.facts is None or capture.segments.is_empty():
        score.notes.append("nothing was read")
        return score
    found = diagnosed(capture, None) if has_links else None
    if found is not None:
        _answer(score, found.headline, right(truth.case))
        score.sentence = found.headline
    if truth.case.file == "offload":
        # An aggregated packet in the file has no single fate.
        if found is not None:
            _link(score, truth, capture.segments, found)
        return score
    known = truth.fates(capture.segments)
    if capture.facts["view"] != "sender":
        score.notes.append(f"view {capture.facts['view']}")
    is_hole = bool(truth.case.sender.longest)
    _labels(score, capture.labels, known, truth, is_hole=is_hole)
    score.timeouts.add(
        capture.facts["timeouts"] == truth.counters["TcpExtTCPTimeouts"],
    )
    if not score.timeouts.right:
        counted = truth.counters["TcpExtTCPTimeouts"]
        score.notes.append(f"timeouts {capture.facts['timeouts']} for {counted}")
    _tshark(score, truth.sender_side, known)
    # Packets that the receiver's filter takes are in its capture all the same.
    if not is_hole:
        _receiver(score, truth, known, has_links)
    if found is not None:
        _link(score, truth, capture.segments, found)
    return score


def _answer(score: Score, sentence: str, truth: Right, where: str = "") -> None:
    """Judges a first sentence."""
    judgement = judged(sentence, truth)
    score.names_it.add(judgement.names_it)
    score.not_wrong.add(not judgement.is_wrong)
    if judgement.is_refusal:
        score.due.add(judgement.was_due)
    if judgement.said:
        score.notes.append(f"{where}{judgement.said}: {sentence}")


def _labels(
    score: Score, labels: pl.DataFrame, known: pl.DataFrame, truth: Truth, *, is_hole: bool = False
) -> None:
    by_packet = {row["packet"]: row for row in known.iter_rows(named=True)}
    before: dict[int, dict[str, object]] = {}
    previous: dict[int, dict[str, object]] = {}
    first: dict[int, int] = {}
    for row in known.iter_rows(named=True):
        before[row["packet"]] = previous.get(row["start"], {})
        previous[row["start"]] = row
        first.setdefault(row["start"], row["index"])
    for label in labels.iter_rows(named=True):
        row = by_packet.get(label["packet"])
        if row is None or label["verdict"] == "unknown":
            continue
        tally = score.needless if row["is_needless"] else score.needed
        tally.add((label["verdict"] == "needless") == row["is_needless"])
        if is_hole:
            continue  # a finding names the cause, and no label
        if row["is_needless"]:
            acks = truth.lost_acks(first[row["start"]], row["index"])
            score.cause.add(needless_cause_is_right(score.kind, label, has_lost_acks=acks > 0))
        else:
            fate = before[label["packet"]].get("fate")
            score.cause.add(_loss_is_right(score.kind, label, fate))


def needless_cause_is_right(kind: str, label: dict[str, object], *, has_lost_acks: bool) -> bool:
    """Whether a needless retransmission's cause is possible on such a link."""
    causes = {"delay-spike"}
    if kind in ("reordering", "jitter", "old timestamps"):
        causes.add("reordering")
    if has_lost_acks:
        causes.add("lost-acks")
    return label["cause"] in causes


def _loss_is_right(kind: str, label: dict[str, object], lost: object) -> bool:
    """A cause that is not shown is not right."""
    if kind == "802.11n and ax" and lost == "dropped":
        # Linux's queues of stations are FQ-CoDel's, and drop by their length, too.
        return label["loss"] in ("aqm", "tail-drop")
    queue = {"policer": "policer", "AQM": "aqm", "AQM with ECN": "aqm"}.get(kind, "tail-drop")
    expected = {"lost": "radio", "dropped": queue}.get(str(lost))
    return label["loss"] == expected


def _tshark(score: Score, capture: Path, known: pl.DataFrame) -> None:
    found = labels_of_tshark(capture)
    if found is None:
        return
    for row in known.filter(pl.col("attempt") > 0).iter_rows(named=True):
        words = found.get(row["packet"], set())
        score.tshark_found.add("retransmission" in words or "spurious_retransmission" in words)
        if row["is_needless"]:
            score.tshark_needless.add("spurious_retransmission" in words)


def _receiver(score: Score, truth: Truth, known: pl.DataFrame, has_links: bool) -> None:
    """Labels at the receiver, matched to arrivals by range and order."""
    capture = read_capture(truth.receiver_side, None, None)
    if has_links and not truth.case.sender.timestamps:
        _answer(score, diagnosed(capture, None).headline, AT_RECEIVER, "at the receiver ")
    if capture.facts is None or capture.labels.is_empty():
        return
    if capture.facts["view"] != "receiver":
        score.notes.append(f"receiver side taken for {capture.facts['view']}")
        return
    arrived: dict[int, list[bool]] = {}
    for row in known.iter_rows(named=True):
        if row["fate"] in ("delivered", "refused") and row["attempt"] > 0:
            arrived.setdefault(row["start"], []).append(row["is_needless"])
    for label in capture.labels.iter_rows(named=True):
        waiting = arrived.get(label["start"])
        if waiting and label["verdict"] != "unknown":
            score.at_receiver.add((label["verdict"] == "needless") == waiting.pop(0))
    if has_links:
        _link_from_receiver(score, truth, capture)


def _link_from_receiver(score: Score, truth: Truth, capture: Capture) -> None:
    """The link in the receiver's capture, where timestamps date the transmissions."""
    seen = capture.at_sender
    if seen is None or not len(seen.segments):
        return
    link = fitted_link(observed(seen.segments, seen.acks))
    tallies = (score.rate_from_receiver, score.base_from_receiver, score.loss_from_receiver)
    _constants(score, truth, link, tallies, "at the receiver ")


def _link(score: Score, truth: Truth, segments: pl.DataFrame, found: Diagnosis) -> None:
    if found.link is None:
        score.notes.append(f"no link: {' '.join(found.refusals)[:80]}")
        return
    link, settings = found.link, truth.case.settings
    _stops(score, truth, segments, [(one.start_s, one.length_s) for one in link.stops.stops])
    if found.replay is not None:
        score.replayed.add(found.replay.explains)
        if found.replay.explains:
            score.modelled.add(all(one.holds for one in found.predictions))
        else:
            score.notes.append(
                ", ".join(
                    f"{name} {100 * by:+.0f} %" for name, by in found.replay.deviations.items()
                )
            )
    if truth.case.kind == "rate step":
        step = link.rate.step
        found_rates = [0.0, 0.0] if step is None else [step.before_bps, step.after_bps]
        is_near = all(
            abs(rate - true) <= 0.03 * true for rate, true in zip(found_rates, STEP, strict=True)
        )
        score.rate.add(is_near)
        if not is_near:
            score.notes.append(f"step {found_rates}")
    if not _is_constant(truth.case):
        return
    _constants(score, truth, link, (score.rate, score.base_rtt, score.loss))
    chance = chance_of_loss(settings)
    if chance:
        low, high = link.loss.interval
        score.loss_interval.add(low <= chance <= high)
        if not low <= chance <= high:
            score.notes.append(f"loss between {low:.4g} and {high:.4g} for {chance:.4g}")


def _constants(
    score: Score,
    truth: Truth,
    link: FittedLink,
    tallies: tuple[Tally, Tally, Tally],
    where: str = "",
) -> None:
    """Rate, base round trip and loss compared with those of the emulated link."""
    settings = truth.case.settings
    if not _is_constant(truth.case):
        return

    def near(tally: Tally, words: str, value: float, true: float, share: float) -> None:
        tally.add(abs(value - true) <= share * true)
        if abs(value - true) > share * true:
            score.notes.append(f"{where}{words} {value:.4g} for {true:.4g}")

    rate = bits_of(settings["link.rate"])
    if policed := settings.get("link.policer.rate"):
        policer = link.drops.policer
        near(tallies[0], "policer", policer.bps if policer else 0.0, bits_of(policed), 0.03)
    elif link.rate.bounds is None:
        near(tallies[0], "rate", link.bps, rate, 0.03)
    base = 2 * seconds_of(settings["link.delay"]) + (MSS_BITS + 8 * 52) / rate
    near(tallies[1], "base", link.base_rtt_s, base, 0.03)
    lost, sent = truth.lost_of_link
    if lost >= 10:
        near(tallies[2], "loss", link.loss.rate, lost / sent, 0.1)


def _is_constant(case: Case) -> bool:
    """Whether the link of a case has one rate and one delay to compare with."""
    return {"link.rate", "link.delay"} <= case.settings.keys() and case.kind != "jitter"


def chance_of_loss(settings: dict[str, str]) -> float:
    """The share of the packets that a link of these settings loses in the long run."""
    if settings.get("link.loss.model") != "gilbert-elliott":
        return float(settings.get("link.loss.rate", "0"))
    to_bad, to_good = (
        float(settings[f"link.loss.{key}"]) for key in ("good_to_bad", "bad_to_good")
    )
    bad = to_bad / (to_bad + to_good)
    in_bad = float(settings.get("link.loss.loss_in_bad", "1"))
    in_good = float(settings.get("link.loss.loss_in_good", "0"))
    return bad * in_bad + (1 - bad) * in_good


def _stops(
    score: Score, truth: Truth, segments: pl.DataFrame, found: list[tuple[float, float]]
) -> None:
    """A stop is found if one overlaps it; a found stop without overlap, however short, is false."""

    def meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]

    for stop in truth.stops(segments):
        score.stops.add(any(meet(stop, one) for one in found))
    every = truth.stops(segments, shortest_s=0.0)
    for one in found:
        score.false_stops.add(not any(meet(stop, one) for stop in every))


if __name__ == "__main__":
    main()
