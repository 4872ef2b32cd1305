"""Remedies for a ping log's link, over a range of rates, since pings do not show the rate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from airtcp._core import RunError
from airtcp.comparison.answer import answer
from airtcp.comparison.budget import Budget
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.compared import Comparison
from airtcp.comparison.sequential import Rounds
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_bit_rate, parse_bit_rate
from airtcp.core.recordings.events import Events
from airtcp.core.recordings.link import QUEUE_MS, Reading, played_link
from airtcp.core.recordings.log import PingLog

RATES = ("12 Mbit/s", "3 Mbit/s", "50 Mbit/s")
"""Rates to try by default; every remedy at the first."""
ROUNDS = Rounds(most_seeds=10, most_cpu_s=20.0, first=5)
"""Bounds of a whole answer."""
_MAIN_SHARE = 0.45
"""Share of the processor time for every remedy at the first of several rates."""
_ONLY_SHARE = 0.85
"""The same at the only rate; the rest is for the other interpretation of gaps."""
_SEEDS = 5
_MAX_ELSEWHERE = 4
"""Maximum number of remedies tried at the other rates: the best at the first."""

Progress = Callable[[float], object]


@dataclass(frozen=True)
class AtRate:
    """Remedies over the link at one rate, with one interpretation of unanswered probes."""

    rate: str
    comparison: Comparison
    reading: Reading = Reading.LOST

    @cached_property
    def baseline(self) -> str:
        """The goodput of today's sender, in words."""
        runs = self.comparison.summaries[BASELINE]
        return format_bit_rate(sum(run["goodput_bps"] for run in runs) / len(runs))

    @property
    def best(self) -> str | None:
        """The deployable remedy that is shown to help most."""
        best = self.comparison.ranking.best
        return None if best is None else best.remedy

    @property
    def is_decided(self) -> bool:
        """Whether some remedy is shown to help, or all are excluded."""
        ranking = self.comparison.ranking
        return ranking.best is not None or ranking.nothing_helps

    @property
    def words(self) -> str:
        """The answer at this rate as part of a sentence: "bbr (+12 %) at 50 Mbit/s"."""
        best = self.comparison.ranking.best
        if best is not None:
            gain = f"{best.gain:+.0f} %".replace("-", "\u2212")
            return f"{best.remedy} ({gain}) at {self.rate}"
        found = "nothing" if self.is_decided else "undecided"
        return f"{found} at {self.rate}"


@dataclass(frozen=True)
class PingAnswer:
    """The remedies over a log's link."""

    main: AtRate
    """Every remedy, at the given rate or the middle one."""
    rates: tuple[AtRate, ...] = ()
    """The best of them at other rates; empty if the rate is given."""
    waited: AtRate | None = None
    """The same at the first rate if unanswered probes were delayed, not lost; None without gaps."""
    untried: tuple[str, ...] = ()
    """Simulations that the processor time did not suffice for: rates, and the other
    interpretation.
    """

    @cached_property
    def sentences(self) -> list[str]:
        """The remedies that help, and whether that depends on the rate or on the interpretation."""
        lines = [*answer(self.main.comparison)]
        lines[0] = f"{lines[0].removesuffix('.')} (at {self.main.rate}: {self.main.baseline})."
        if self.rates:
            lines.insert(0, self._over_rates())
        if self.waited is not None:
            lines.append(self._as_waited(self.waited))
        if self.untried:
            lines.append(f"The processor time did not suffice for {_listed(self.untried)}.")
        return lines

    def _over_rates(self) -> str:
        every = sorted((self.main, *self.rates), key=lambda one: parse_bit_rate(one.rate) or 0.0)
        names = _listed_rates([one.rate for one in every])
        carried = _listed_rates([one.baseline for one in every])
        found = {one.best for one in every}
        told = (
            f"A ping shows neither rate nor queue; over {names} with {QUEUE_MS} ms of queue, "
            f"today's TCP gets {carried}"
        )
        if found == {None}:
            open_at = _listed([one.rate for one in every if not one.is_decided])
            undecided = f" (undecided at {open_at})" if open_at else ""
            return f"{told}, and nothing is shown to help at any of them{undecided}."
        if len(found) == 1:
            gains = _listed([f"{_gain(one):+.0f} %".replace("-", "\u2212") for one in every])
            return f"{told}, and {every[0].best} helps at each ({gains})."
        turns = ", ".join(one.words for one in every)
        return f"{told}. The answer depends on the rate: {turns}. Pass --rate if you know it."

    def _as_waited(self, waited: AtRate) -> str:
        same = waited.best == self.main.best and waited.is_decided == self.main.is_decided
        assumed = "If packets had waited during the gaps instead of being lost"
        why = "which a ping cannot distinguish"
        if same:
            return (
                f"{assumed}, {why}, the answer would be the same (today's TCP {waited.baseline})."
            )
        return f"{assumed}, {why}, it would be: {waited.words} (today's TCP {waited.baseline})."


def answered(
    log: PingLog,
    events: Events,
    *,
    can: str,
    rate: str | None,
    rounds: Rounds | None = None,
    progress: Progress | None = None,
) -> PingAnswer:
    """Tries every remedy over the link of a log, at a rate or over a range.

    Args:
        log: the log.
        events: events found in it.
        can: changes that the asker can make.
        rate: rate of the link; None for a range.
        rounds: seeds of the first comparison, and the processor time of the whole answer.
        progress: called with the finished share.

    Raises:
        RunError: a simulation could not be finished.
    """
    rounds = rounds or ROUNDS
    budget = Budget(rounds.most_cpu_s)
    share = _MAIN_SHARE if rate is None else _ONLY_SHARE
    furthest = 0.0

    def told(share: float) -> None:
        # More seeds make the finished share smaller.
        nonlocal furthest
        furthest = max(furthest, share)
        if progress is not None:
            progress(furthest)

    main_rate = rate or RATES[0]
    with TemporaryDirectory(prefix="airtcp-") as held:

        def written(at: str, reading: Reading = Reading.LOST) -> Path:
            folder = Path(held) / f"{at.replace('/', '-')}-{reading.name}".replace(" ", "-")
            return played_link(log, events, at, reading).write(folder)

        compared = run_comparison(
            written(main_rate),
            can=can,
            rounds=replace(rounds, most_cpu_s=share * rounds.most_cpu_s),
            harm=True,
            horizon=True,
            progress=lambda done, cells: told(0.7 * done / cells),
        )
        told(0.7)
        main = AtRate(main_rate, compared)
        names = _candidates(compared)
        rates = [] if rate is not None else list(RATES[1:])
        again: list[AtRate] = []
        untried: list[str] = []
        for number, at in enumerate(rates, 1):
            found = _compared(written(at), names, compared, budget)
            if found is None:
                untried.append(at)
            else:
                again.append(AtRate(at, found))
            told(0.7 + 0.3 * number / (len(rates) + 1))
        waited = None
        if len(events.gaps):
            path = written(main_rate, Reading.WAITED)
            found = _compared(path, names, compared, budget)
            if found is None:
                untried.append("packets that wait through the gaps")
            else:
                waited = AtRate(main_rate, found, Reading.WAITED)
    return PingAnswer(main, tuple(again), waited, tuple(untried))


def _candidates(compared: Comparison) -> list[str]:
    """The remedies worth trying at other rates: the best by their estimates, helping or not."""
    deployable = sorted(compared.ranking.deployable, key=lambda one: -one.gain)
    return [one.remedy for one in deployable[:_MAX_ELSEWHERE]]


def _compared(
    path: Path, names: Sequence[str], like: Comparison, budget: Budget
) -> Comparison | None:
    """Some remedies on as many seeds as the processor time permits; None if not even one."""
    left_s = budget.left_s
    if left_s <= 0:
        return None
    rounds = Rounds(most_seeds=_SEEDS, most_cpu_s=left_s, first=_SEEDS)
    try:
        compared = run_comparison(path, names, can=like.can, smallest=like.smallest, rounds=rounds)
    except RunError:
        if budget.left_s <= 0:
            return None
        raise
    return replace(compared, is_search=True)


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + f" and {parts[-1]}"


def _listed_rates(rates: Sequence[str]) -> str:
    """Rates in words; the unit is written once if all have the same."""
    units = {rate.rpartition(" ")[2] for rate in rates}
    if len(units) > 1:
        return _listed(rates)
    return f"{_listed([rate.rpartition(' ')[0] for rate in rates])} {units.pop()}"


def _gain(one: AtRate) -> float:
    best = one.comparison.ranking.best
    return 0.0 if best is None else best.gain
