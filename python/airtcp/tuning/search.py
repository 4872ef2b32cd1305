"""The search: settings of remedies, then combinations of the best, on common random numbers.

Each rung of a round runs its candidates on more seeds and keeps the better part of them: sequential
halving (Karnin, Koren & Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013). The
search only proposes. Its seeds are not used again, so it needs no guarantee.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf

from airtcp._core import AirtcpError, RunError, Scenario
from airtcp.comparison.budget import Budget, OutOfBudgetError
from airtcp.comparison.compared import Comparison
from airtcp.comparison.everything import applicable
from airtcp.comparison.ranking import Candidate
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT
from airtcp.comparison.sizes import path_of
from airtcp.core.bpf import is_bpf
from airtcp.core.registered import is_python
from airtcp.tuning.settings import NARROW, WIDE, Setting, knobs

SEEDS = tuple(range(1_000_001, 1_000_005))
"""Seeds of the search, apart from the final comparison's."""
SINGLES = 6
"""How many single remedies are combined."""
PAIRS = 3
"""How many pairs are joined by a third remedy."""
FINALISTS = 6
"""How many settings the final comparison has."""
REFINEMENTS = 2
"""Rounds of finer values around the best."""
_KEPT = 1 / 3
"""Share of the candidates that each rung keeps."""

Combination = tuple[Setting, ...]

Compare = Callable[[Sequence[str], Sequence[int]], Comparison]
"""Compares remedies on seeds."""

Harm = Callable[[Sequence[str], Sequence[int]], Mapping[str, float]]
"""Change of an unchanged competing flow's goodput by remedy, in per cent, on seeds."""


def text_of(combination: Combination) -> str:
    """The combination as the name of a remedy: "cake:rate=9500+bbr"."""
    return "+".join(setting.text for setting in combination)


def _sets(combination: Combination) -> set[str]:
    """The remedies of a combination, and the settings that deploying them changes."""
    return {knob for one in combination for knob in (one.remedy, *knobs(one.remedy))}


def _values(combination: Combination) -> int:
    """How many parameters are not at their defaults."""
    return sum(len(one.values) for one in combination)


def _is_simpler(other: Combination, one: Combination) -> bool:
    """Whether a combination has less to deploy: part of the remedies, or of their values."""
    ours = {setting.remedy: set(setting.values) for setting in one}
    is_part = all(setting.remedy in ours for setting in other)
    return is_part and (len(other), _values(other)) < (len(one), _values(one))


@dataclass
class Search:
    """A search over the settings of remedies that an asker can deploy on one link."""

    scenario: Scenario
    compare: Compare
    budget: Budget
    can: str
    smallest: float
    """The smallest effect worth having, in per cent: what it takes to prefer less simple settings.
    """
    harm: Harm | None = None
    """Measures the harm to an unchanged competing flow, where that is possible."""
    names: Sequence[str] = ()
    """Remedies to search among; empty takes all that apply to the link."""
    own: Sequence[str] = ()
    """User-written controls in BPF and Python, as remedies, to search among too."""
    scores: dict[str, Candidate] = field(default_factory=dict)
    """Every setting that ran, on its most seeds."""
    tried: dict[str, Combination] = field(default_factory=dict)
    """The same settings, as combinations."""
    rounds: list[str] = field(default_factory=list)
    """The tries of each round, in words."""
    left_out: tuple[str, float, float] | None = None
    """The best of all, if it takes much from a competing flow: its gain, and its harm, in per cent.
    """
    failed: dict[str, str] = field(default_factory=dict)
    """Settings of user-written controls with which a run ended early, and why."""
    stopped: str = ""
    """Why the search ended early; empty if it did not."""

    def run(self) -> list[Combination]:
        """The finalists, best first; the budget may end the search early."""
        try:
            best = self._singles()
            best = self._joined(best, list(combinations(best[:SINGLES], 2)), "pairs")
            pairs = [one for one in best if len(one) == 2][:PAIRS]
            singles = [one for one in best if len(one) == 1][:SINGLES]
            best = self._joined(best, [(p, s) for p in pairs for s in singles], "triples")
            for _ in range(REFINEMENTS):
                best = self._refined(best)
            return self._gentle_first(self._distinct(best))
        except OutOfBudgetError as error:
            self.stopped = str(error)
            return self._distinct(list(self.tried.values()))[:FINALISTS]

    def _distinct(self, best: Sequence[Combination]) -> list[Combination]:
        """Combinations without duplicates, each better than every simpler one by `smallest`.

        Settings with the same figures have the same runs.
        """
        seen: set[tuple[float, float]] = set()
        kept: list[Combination] = []
        for one in sorted(best, key=lambda one: (len(one), _values(one))):
            score = self.scores[text_of(one)]
            simpler = [other for other in kept if _is_simpler(other, one)]
            bar = max((self._value(other) for other in simpler), default=-inf)
            is_worth_it = 100.0 + self._value(one) >= (100.0 + bar) * (1.0 + self.smallest / 100.0)
            if (score.gain, score.cost) in seen or not is_worth_it:
                continue
            seen.add((score.gain, score.cost))
            kept.append(one)
        return self._ordered(kept)

    def _gentle_first(self, best: Sequence[Combination]) -> list[Combination]:
        """The finalists: the best that take little from a competing flow.

        Without any, the others.
        """
        if self.harm is None or not best:
            return list(best[:FINALISTS])
        harms: dict[str, float] = {}
        gentle: list[Combination] = []
        helping = [one for one in best if self._value(one) >= self.smallest]
        # Variants of one harmful setting may fill the first places.
        while not gentle and len(harms) < len(helping):
            self.budget.check()
            batch = helping[len(harms) : len(harms) + 2 * FINALISTS]
            measured = self.harm([text_of(one) for one in batch], SEEDS[:2])
            self.rounds.append(f"{len(batch)} competing with an unchanged flow on 2 seeds")
            harms |= {text_of(one): measured.get(text_of(one), 0.0) for one in batch}
            gentle = [one for one in batch if harms[text_of(one)] > -LARGE_HARM_PERCENT]
        if not gentle:
            return list(best[:FINALISTS])
        first = helping[0]
        if first not in gentle:
            self.left_out = (text_of(first), self._value(first), harms[text_of(first)])
        return gentle[:FINALISTS]

    def _singles(self) -> list[Combination]:
        """Each remedy at its defaults, then with one parameter changed, then with the best ones."""
        found = applicable(self.scenario)
        starts = [Setting.parse(text) for text in found.taken]
        if self.names:
            starts = [one for one in starts if one.remedy in self.names]
        starts += [Setting.parse(text) for text in self.own]
        path = path_of(self.scenario)
        rate = path.rate_bps if path else None
        base = self._rung([(one,) for one in starts], 2, "remedies at their defaults")
        # A remedy that does nothing at its defaults may do much with other values.
        deployable = [setting for (setting,) in base]
        tried = [(near,) for setting in deployable for near in setting.neighbours(WIDE, rate)]
        kept = self._halved(tried, "values of one parameter")
        joined = [(self._best_values(setting, kept),) for setting in deployable]
        self._rung(joined, len(SEEDS), "joint values of several parameters")
        best = self._one_each([*base, *kept, *joined])
        return self._ordered([*best, *base])

    def _best_values(self, start: Setting, tried: Iterable[Combination]) -> Setting:
        """The start with the best value of each parameter that did better than the start."""
        best, changed = start, set[str]()
        for (one,) in self._ordered(list(tried)):
            if one.remedy != start.remedy or self._value((one,)) <= self._value((start,)):
                continue
            for name, value in set(one.values) - set(start.values):
                if name not in changed:
                    best = best.having(name, value)
                    changed.add(name)
        return best

    def _joined(
        self,
        best: list[Combination],
        joins: Sequence[tuple[Combination, Combination]],
        words: str,
    ) -> list[Combination]:
        """The best so far with combinations of them."""
        new = [(*one, *other) for one, other in joins if not _sets(one) & _sets(other)]
        return self._ordered([*best, *self._halved(new, words)])

    def _refined(self, best: list[Combination]) -> list[Combination]:
        """The best so far with finer values of their parameters."""
        near = [
            (*one[:place], changed, *one[place + 1 :])
            for one in best[: FINALISTS // 2]
            for place, setting in enumerate(one)
            for changed in setting.neighbours(NARROW)
            if {name for name, _ in changed.values} == {name for name, _ in setting.values}
        ]
        return self._ordered([*best, *self._halved(near, "finer values")])

    def _halved(self, tried: Sequence[Combination], words: str) -> list[Combination]:
        """The better part of the candidates, on every seed of the search."""
        left = list(tried)
        for seeds in (1, 2, len(SEEDS)):
            left = self._rung(left, seeds, words)
            if seeds < len(SEEDS):
                left = left[: max(2 * FINALISTS, round(_KEPT * len(left)))]
        return left

    def _rung(self, tried: Sequence[Combination], seeds: int, words: str) -> list[Combination]:
        """Runs the candidates on the first `seeds` seeds; the deployable ones, best first."""
        fit = [one for one in dict.fromkeys(tried) if self._is_fit(one)]
        if not fit:
            return []
        self.budget.check()
        compared, fit = self._compared(fit, SEEDS[:seeds])
        self.rounds.append(f"{len(fit)} {words} on {seeds} seed{'s' if seeds > 1 else ''}")
        deployable = {one.remedy for one in compared.ranking_for(self.can).deployable}
        self.scores |= {
            name: one for name, one in compared.candidates.items() if name in deployable
        }
        known = [one for one in fit if text_of(one) in deployable]
        self.tried |= {text_of(one): one for one in known}
        return self._ordered(known)

    def _compared(
        self, fit: list[Combination], seeds: Sequence[int]
    ) -> tuple[Comparison, list[Combination]]:
        """Compares settings, without values with which a user-written control fails.

        Raises:
            RunError: a run failed for another reason, or with a control as it was given.
        """
        try:
            return self.compare([text_of(one) for one in fit], seeds), fit
        except RunError:
            known = len(self.failed)
            for one in fit:
                if any(is_bpf(setting.remedy) or is_python(setting.remedy) for setting in one):
                    self._try(one, seeds)
            if len(self.failed) == known:
                raise
        left = [one for one in fit if text_of(one) not in self.failed]
        return self.compare([text_of(one) for one in left], seeds), left

    def _try(self, one: Combination, seeds: Sequence[int]) -> None:
        """Runs one setting, and notes whether a run fails."""
        try:
            self.compare([text_of(one)], seeds)
        except RunError as error:
            if text_of(one) in self.own:
                raise
            self.failed[text_of(one)] = str(error)

    def _is_fit(self, one: Combination) -> bool:
        """Whether the link takes the combination; refusals are no error of the search."""
        if text_of(one) in self.failed:
            return False
        try:
            for setting in one:
                setting.register()
            changed = self.scenario.with_remedies(text_of(one))
        except AirtcpError:
            return False
        return not {setting.remedy for setting in one} <= set(changed.already_so)

    def _ordered(self, tried: Sequence[Combination]) -> list[Combination]:
        known = [one for one in dict.fromkeys(tried) if text_of(one) in self.scores]
        # Of equals, the one with less to deploy.
        return sorted(known, key=lambda one: (-self._value(one), len(one), len(text_of(one))))

    def _one_each(self, tried: Sequence[Combination]) -> list[Combination]:
        """The best setting of each remedy, best first."""
        first: dict[str, Combination] = {}
        for one in self._ordered(tried):
            first.setdefault(one[0].remedy, one)
        return list(first.values())

    def _value(self, one: Combination) -> float:
        """The estimated gain; a remedy that floods the link or costs a tenth of it comes last."""
        score = self.scores.get(text_of(one))
        if score is None:
            return -inf
        is_too_dear = score.floods or score.cost <= -LARGE_HARM_PERCENT
        return score.gain - (1e6 if is_too_dear else 0.0)
