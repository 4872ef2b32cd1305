"""Simulates remedies on the links that a fit leaves open, in rounds.

The first round tries every remedy on a few of the links. Remedies that may be worth deploying, or
may shorten the round trip, go on to all links and more seeds; the others keep their results of the
first round. If the processor time runs out, a round ends with the finished links.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from airtcp import _core
from airtcp._core import RunError, RunResult, Scenario, ScenarioError
from airtcp.comparison.budget import Budget, OutOfBudgetError
from airtcp.comparison.perturbation import perturbed
from airtcp.comparison.ranking import Aim, Reach
from airtcp.comparison.ranking.deployable import ADVICE, is_deployable, needs
from airtcp.core.catalogue import Remedy, remedies
from airtcp.core.summary import RunSummary, parse_summary, retransmitted_share, total
from airtcp.diagnosis.trials import (
    CALM_PERCENT,
    WORTH_PERCENT,
    Cost,
    Effect,
    Ends,
    Trial,
    Trials,
    effect,
    over,
)

FIRST_DRAWS = 6
"""Links of the first round, with one seed each; a multiple of two and three senders."""
FEWEST_DRAWS = 2
"""Minimum number of links of a first round cut short; one does not show the error of the fit."""
SEEDS = 2
"""Seeds of each drawn link, to separate their variance from the fit's uncertainty."""
CONTENDERS = 6
"""Maximum number of remedies in the second round: the largest possible gains."""
CALM_CONTENDERS = 2
"""Additional remedies that shorten the round trip most, if data waits."""
MAX_CPU_S = 60.0
Progress = Callable[[int, int], object]
Cell = tuple[str, int, int, int]
"""Remedy, end, draw and seed."""


@dataclass(frozen=True)
class Effort:
    """Cost bounds of a diagnosis, and its criteria."""

    seeds: int = SEEDS
    """Seeds of each drawn link, in the deciding round."""
    max_cpu_s: float = MAX_CPU_S
    """Processor time after which the trials end with the finished runs."""
    worth_percent: float = WORTH_PERCENT
    """The smallest effect worth having."""
    aim: Aim = Aim.BULK
    """Intended use of the link: round trips decide for all aims but bulk."""


@dataclass
class _Bench:
    """Runs on the links, each only once."""

    ends: Ends
    progress: Progress | None
    budget: Budget
    done: dict[Cell, RunSummary] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    expected: int = 0

    def run(self, names: Sequence[str], draws: int, seeds: int, *, by_draw: bool = False) -> bool:
        """Runs the missing cells; drops a remedy that the link or the stack cannot have.

        Args:
            names: the remedies; "" means no remedy.
            draws: number of links of each end, from the first.
            seeds: number of seeds on each link.
            by_draw: link by link with all remedies, rather than remedy by remedy.

        Returns:
            whether all were run; otherwise the processor time was spent, and `done` is partial.

        Raises:
            RunError: a run could not be finished.
        """
        cells: list[tuple[Cell, Scenario]] = []
        for name in names:
            try:
                for end, drawn in enumerate(self.ends.drawn):
                    for draw in range(draws):
                        wanted = [
                            (name, end, draw, seed)
                            for seed in range(seeds)
                            if (name, end, draw, seed) not in self.done
                        ]
                        if wanted:
                            link = perturbed(drawn[draw])
                            one = link.with_remedies(name) if name else link
                            cells += [(cell, one) for cell in wanted]
            except ScenarioError:
                self.refused.add(name)
        cells = [one for one in cells if one[0][0] not in self.refused]
        if by_draw:
            cells.sort(key=lambda one: one[0][2])

        def told(index: int, result: RunResult) -> None:
            self.done[cells[index][0]] = parse_summary(result.summary())
            if self.progress:
                self.progress(len(self.done), max(self.expected, len(self.done)))
            self.budget.check()

        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        # Seeds begin at 1, and differ between links.
        runs = [(one, 1 + seeds_of(cell)) for cell, one in cells]
        try:
            results = _core.run_many(runs, threads, told)
        except OutOfBudgetError:
            return all(cell in self.done for cell, _ in cells)
        for result in results:
            if isinstance(result, RunError):
                raise result
        return True

    def complete(self, names: Sequence[str], draws: int) -> int:
        """The number of first links, up to `draws`, on which all of these were run."""
        wanted = [name for name in names if name not in self.refused]
        for draw in range(draws):
            if not all(
                (name, end, draw, 0) in self.done
                for name in wanted
                for end in range(len(self.ends.drawn))
            ):
                return draw
        return draws

    def values(
        self, name: str, end: int, draws: Sequence[int], of: Callable[[RunSummary], float]
    ) -> NDArray[np.float64]:
        """A measure of all unchanged runs available: one row per link, one column per seed.

        Without a remedy, "", all available seeds.
        """
        return self.matched(name, name, end, draws, of)

    def matched(
        self,
        which: str,
        name: str,
        end: int,
        draws: Sequence[int],
        of: Callable[[RunSummary], float],
    ) -> NDArray[np.float64]:
        """A measure of `which` on the seeds of these links that both `name` and no remedy have."""
        seeds = [
            seed
            for seed in range(max(cell[3] for cell in self.done) + 1)
            if all((one, end, draw, seed) in self.done for one in {"", name} for draw in draws)
        ]
        return np.array(
            [[of(self.done[which, end, draw, seed]) for seed in seeds] for draw in draws],
            dtype=np.float64,
        )


def seeds_of(cell: Cell) -> int:
    """The seed of a run: the same for every remedy on a link."""
    _, _, draw, seed = cell
    return 1000 * seed + draw


def candidates() -> list[Remedy]:
    """The remedies that are deployable and that a simulation can show."""
    return [one for one in remedies() if needs(one["name"]) and one["name"] not in ADVICE]


def tried(
    ends: Ends,
    reach: Reach,
    progress: Progress | None = None,
    effort: Effort | None = None,
    *,
    data_waits: bool = False,
) -> Trials:
    """Simulates candidates on the drawn links, each remedy on the same seeds.

    Args:
        ends: the links.
        reach: the places that the asker can change.
        progress: called with the number of finished runs and the total.
        effort: cost bounds.
        data_waits: whether the round trip is worth shortening, too.

    Raises:
        RunError: a run could not be finished.
        OutOfBudgetError: the processor time is not enough for a first round.
    """
    effort = effort or Effort()
    budget = Budget(effort.max_cpu_s)
    draws = len(ends.drawn[0])
    names = [one["name"] for one in candidates() if one["name"] not in ends.in_use]
    first = min(FIRST_DRAWS, draws)
    bench = _Bench(ends, progress, budget)
    finalists = min(len(names), CONTENDERS + CALM_CONTENDERS)
    bench.expected = len(ends.drawn) * (
        (len(names) - finalists) * first + (finalists + 1) * draws * effort.seeds
    )
    if not bench.run(["", *names], first, 1, by_draw=True):
        first = bench.complete(["", *names], first)
        if first < FEWEST_DRAWS:
            raise OutOfBudgetError(
                f"A first round of {len(names)} remedies over the fitted link takes more than "
                f"{budget.words}: allow more"
            )
    rows = _rows(bench, names, dict.fromkeys(names, first))
    is_decided = False
    measured: dict[str, int] = dict.fromkeys(names, first)
    stopped = ""
    while not is_decided:
        chosen = _contenders(rows, measured, first, reach, effort, data_waits=data_waits)
        if not chosen:
            break
        if budget.left_s <= 0:
            stopped = budget.words
            break
        bench.run(["", *chosen], draws, effort.seeds)
        # Remedies cut off by the processor time keep their results of the first round.
        measured |= {name: draws for name in chosen if bench.complete(["", name], draws) == draws}
        rows = _rows(bench, names, measured)
        found = Trials(tuple(rows), ends.open_point, 0.0, 0, reach, effort.worth_percent)
        is_decided = found.winner is not None or data_waits
    unchanged = [
        [_goodput(one) for cell, one in bench.done.items() if cell[:2] == ("", end)]
        for end in range(len(ends.drawn))
    ]
    baseline = float(np.mean([np.mean(one) for one in unchanged]))
    return Trials(
        tuple(rows),
        ends.open_point,
        baseline,
        len(bench.done),
        reach,
        effort.worth_percent,
        stopped=stopped,
    )


def _goodput(run: RunSummary) -> float:
    return run["flows"][0]["goodput_bps"]


def _rows(bench: _Bench, names: Sequence[str], measured: dict[str, int]) -> list[Trial]:
    """A trial for each remedy with any effect, the largest first."""
    place_of = {entry["name"]: entry["place"] for entry in remedies()}
    found = (
        _row(bench, name, place_of[name], measured[name])
        for name in names
        if name not in bench.refused
    )
    return sorted(
        (one for one in found if one is not None), key=lambda row: row.effect.percent, reverse=True
    )


def _row(bench: _Bench, name: str, place: str, draws: int) -> Trial | None:
    """The trial of a remedy over the first `draws` links of each end; None without any effect."""
    ends, kept = bench.ends, range(draws)
    effects, calms = [], []
    for end, group in _groups(ends, draws):
        both = [bench.matched(one, name, end, group, _goodput) for one in ("", name)]
        one = effect(both[0], both[1])
        calm = [bench.matched(one, name, end, group, _high_rtt) for one in ("", name)]
        calms.append(effect(calm[0], calm[1]))
        most = ends.most_percent[end] if ends.most_percent else None
        effects.append(one if most is None or one.is_identical else one.within(most))
    if all(one.is_identical for one in effects):
        return None

    def change(of: Callable[[RunSummary], float]) -> float:
        means = [
            [bench.matched(one, name, end, kept, of).mean() for end in range(len(ends.drawn))]
            for one in ("", name)
        ]
        return float(np.mean(means[1]) - np.mean(means[0]))

    cost = Cost(
        100.0 * change(retransmitted_share),
        change(lambda run: float(total(run, "timeouts"))),
        change(lambda run: run["flows"][0]["srtt_ms"] or 0.0),
    )
    mean = float(
        np.mean([bench.values(name, end, kept, _goodput) for end in range(len(ends.drawn))])
    )
    return Trial(name, place, over(effects), tuple(effects), cost, mean, over(calms))


def _high_rtt(run: RunSummary) -> float:
    return run["flows"][0]["rtt_p95_ms"] or 0.0


def _groups(ends: Ends, draws: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Each end with its links, separated by sender if there are enough."""
    for end in range(len(ends.drawn)):
        if ends.senders > 1 and draws > FIRST_DRAWS:
            for sender in range(ends.senders):
                yield end, range(sender, draws, ends.senders)
        else:
            yield end, range(draws)


def _contenders(
    rows: Sequence[Trial],
    measured: dict[str, int],
    first: int,
    reach: Reach,
    effort: Effort,
    *,
    data_waits: bool,
) -> list[str]:
    """Remedies of the first round that may be worth deploying, by their largest possible gain.

    Deployable remedies come before the best of the other places.
    """
    open_ones = [row for row in rows if measured[row.remedy] == first]

    def may_gain(one: Effect) -> bool:
        return one.high >= effort.worth_percent

    hopeful = [row for row in open_ones if may_gain(row.effect)]
    own = [row for row in hopeful if is_deployable(row.remedy, reach.spots)]
    others = [row for row in hopeful if row not in own]
    chosen = [*own[: CONTENDERS - 1], *others[:1]] if own else others[:CONTENDERS]
    if data_waits:
        calm = [row for row in open_ones if row.round_trip.percent <= -CALM_PERCENT]
        calm = [row for row in calm if is_deployable(row.remedy, reach.spots)]
        calm.sort(key=lambda row: row.round_trip.percent)
        chosen += [row for row in calm[:CALM_CONTENDERS] if row not in chosen]
    return [row.remedy for row in chosen]
