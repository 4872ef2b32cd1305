"""Compares two captures of one transfer, before and after a change, with confidence intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.check import FIT
from airtcp.diagnosis.observed import Observed, Reals

Places = NDArray[np.int64]

BLOCK_S = 2.0
"""Block length: the aftermath of a loss mostly fits in it, so blocks are nearly independent."""
FEWEST_BLOCKS = 5
DRAWS = 2000
SEED = 30
RESOLUTION = 0.005
"""Relative step of the round-trip histogram."""
PERCENT = 95.0


@dataclass(frozen=True)
class Change:
    """One measure in both captures, and the interval of its change."""

    measure: str
    before: float
    after: float
    low: float
    high: float
    """Upper bound of after / before - 1; of a share, of after - before. All intervals hold jointly
    in 95 of 100 pairs of captures (Bonferroni).
    """
    is_share: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes no change."""
        return self.low > 0 or self.high < 0

    @property
    def sentence(self) -> str:
        """The change in words."""
        unit = " points" if self.is_share else " %"
        change = self.after - self.before if self.is_share else self.after / self.before - 1.0
        by, low, high = (100.0 * value for value in (change, self.low, self.high))
        decimals = 2 if self.is_share else 0
        interval = f"{by:+.{decimals}f} ({low:+.{decimals}f} to {high:+.{decimals}f}){unit}"
        shown = interval.replace("-", "\N{MINUS SIGN}")
        ends = f"{self._value(self.before)} before, {self._value(self.after)} after"
        name = self.measure[0].upper() + self.measure[1:]
        verdict = shown if self.is_shown else f"no difference shown, {shown}"
        return f"{name}: {ends}: {verdict}."

    def _value(self, value: float) -> str:
        if self.is_share:
            return format_percent(100 * value, decimals=2)
        return format_bit_rate(value) if self.measure == "goodput" else f"{1e3 * value:.1f} ms"


@dataclass(frozen=True)
class Changes:
    """The differences between two captures."""

    before: str
    after: str
    rows: tuple[Change, ...]
    refusals: tuple[str, ...]
    """Reasons for which they are not compared, or not by all measures."""

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        if not self.rows:
            return f"The captures are not compared: {self.refusals[0]}"
        shown = [row for row in self.rows if row.is_shown]
        if not shown:
            return "No difference between the captures is shown."
        return shown[0].sentence

    @property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline]
        lines += [row.sentence for row in self.rows if row.sentence != lines[0]]
        lines += [one for one in self.refusals if one not in lines[0]]
        if self.rows:
            lines.append(
                "Intervals hold what chance within the captures brings (95 % jointly, stretches of "
                f"{BLOCK_S:.0f} s drawn again). Whatever else changed between them, the time, the "
                "place, others on the link, is not in them: change back, capture once more, and "
                "compare."
            )
        return lines


def changes(before: Capture, after: Capture) -> Changes:
    """Compares the chosen flows of two captures."""
    from airtcp.diagnosis.capture_answer import flow_of

    flows = []
    refusals: list[str] = []
    for capture in (before, after):
        flow = flow_of(capture)
        if flow is None or not flow.sampled.any():
            why = [one["reason"] for one in capture.refusals if one["is_total"]]
            reason = why[0] if why else "it does not show what its sender saw"
            refusals.append(f"{capture.path}: {reason}.")
        elif flow.seconds < FEWEST_BLOCKS * BLOCK_S:
            refusals.append(
                f"{capture.path}: lasts {flow.seconds:.1f} s: capture "
                f"{FEWEST_BLOCKS * BLOCK_S:.0f} s or more."
            )
        else:
            flows.append(flow)
    names = str(before.path), str(after.path)
    if len(flows) < 2:
        return Changes(*names, (), tuple(refusals))
    return Changes(*names, tuple(_rows(*flows)), ())


def _rows(before: Observed, after: Observed) -> list[Change]:
    one, other = _Blocks(before), _Blocks(after)
    rows = [_changed(name, of, one, other, is_share) for name, of, is_share in _MEASURES]
    base = after.base_rtt_s / before.base_rtt_s - 1.0
    # The minimum of thousands hardly varies, but hosts are not exact.
    low, high = base - FIT, base + FIT
    rows.append(Change("base round trip", before.base_rtt_s, after.base_rtt_s, low, high))
    return [row for row in rows if np.isfinite(row.low) and np.isfinite(row.high)]


class _Blocks:
    """A flow cut into blocks, and its measures for given weights of the blocks."""

    def __init__(self, flow: Observed) -> None:
        self.count = int(flow.seconds / BLOCK_S)
        self.length_s = flow.seconds / self.count
        sent = self._place(flow, flow.sent_s)
        self._delivered = self._sums(self._place(flow, flow.ack_s), 8.0 * flow.newly)
        self._sent = self._sums(sent, np.ones(len(sent)))
        self._lost = self._sums(sent, flow.lost.astype(np.float64))
        self._resent = self._sums(sent, (flow.attempt > 0).astype(np.float64))
        rtts = flow.rtt_s[flow.sampled]
        shortest = float(rtts.min())
        bins = np.floor(np.log(rtts / shortest) / RESOLUTION).astype(np.int64)
        self._rtts_s = shortest * np.exp((np.arange(bins.max() + 1) + 0.5) * RESOLUTION)
        self._histograms = np.zeros((self.count, len(self._rtts_s)))
        np.add.at(self._histograms, (sent[flow.sampled], bins), 1.0)

    def drawn(self, random: np.random.Generator) -> Reals:
        """Block bootstrap: as many blocks, drawn with replacement, `DRAWS` times."""
        chances = np.full(self.count, 1.0 / self.count)
        return random.multinomial(self.count, chances, DRAWS).astype(np.float64)

    def whole(self) -> Reals:
        """Weights that count each block once."""
        return np.ones((1, self.count))

    def goodput(self, weights: Reals) -> Reals:
        """Payload bits a second."""
        bits: Reals = weights @ self._delivered
        seconds: Reals = weights.sum(axis=1) * self.length_s
        return bits / seconds

    def loss(self, weights: Reals) -> Reals:
        """Share of the transmissions that were lost."""
        return self._share(weights, self._lost)

    def repeats(self, weights: Reals) -> Reals:
        """Share of the transmissions that were retransmissions."""
        return self._share(weights, self._resent)

    def median(self, weights: Reals) -> Reals:
        """The median round trip."""
        return self._quantile(weights, 0.5)

    def high(self, weights: Reals) -> Reals:
        """The 95th percentile of the round trip."""
        return self._quantile(weights, 0.95)

    def _quantile(self, weights: Reals, share: float) -> Reals:
        counted = np.cumsum(weights @ self._histograms, axis=1)
        rtts_s: Reals = self._rtts_s[np.argmax(counted >= share * counted[:, -1:], axis=1)]
        return rtts_s

    def _share(self, weights: Reals, counted: Reals) -> Reals:
        share: Reals = weights @ counted / np.maximum(weights @ self._sent, 1.0)
        return share

    def _sums(self, places: Places, values: Reals) -> Reals:
        sums: Reals = np.bincount(places, values, self.count).astype(np.float64)
        return sums

    def _place(self, flow: Observed, times: Reals) -> Places:
        place = ((times - flow.begun_s) / self.length_s).astype(np.int64)
        return np.clip(place, 0, self.count - 1)


_Measure = Callable[[_Blocks, Reals], Reals]
_MEASURES: tuple[tuple[str, _Measure, bool], ...] = (
    ("goodput", _Blocks.goodput, False),
    ("median round trip", _Blocks.median, False),
    ("round trip that one in twenty exceeds", _Blocks.high, False),
    ("lost", _Blocks.loss, True),
    ("sent again", _Blocks.repeats, True),
)


def _changed(name: str, of: _Measure, one: _Blocks, other: _Blocks, is_share: bool) -> Change:
    random = np.random.default_rng(SEED)
    before, after = float(of(one, one.whole())[0]), float(of(other, other.whole())[0])
    low, high = of(one, one.drawn(random)), of(other, other.drawn(random))
    drawn: Reals = high - low if is_share else high[low > 0] / low[low > 0] - 1.0
    tail = (100.0 - PERCENT) / len(_MEASURES) / 2
    interval = np.percentile(drawn, (tail, 100.0 - tail)) if len(drawn) else (np.nan, np.nan)
    return Change(name, before, after, float(interval[0]), float(interval[1]), is_share)
