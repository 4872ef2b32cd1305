"""Harm of the remedies worth naming, on more seeds until the first one's harm is decided."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from airtcp.comparison.budget import Budget, OutOfBudgetError
from airtcp.comparison.compared import Comparison
from airtcp.comparison.competing import CompetingPlan, competing_plan
from airtcp.comparison.execute import Results
from airtcp.comparison.plan import Plan
from airtcp.comparison.ranking.best import is_gentle, rivals_of
from airtcp.comparison.sequential import Rounds
from airtcp.core.catalogue import BASELINE
from airtcp.core.summary import RunSummary


@dataclass(frozen=True)
class HarmRounds:
    """How to measure harm: the executor, the number of seeds, and the budget."""

    run: Callable[[Plan], Results]
    rounds: Rounds | None
    """The design with the maximum of seeds for these looks; None: the comparison's seeds."""
    budget: Budget

    def measured(self, compared: Comparison) -> Comparison:
        """The comparison with the harm of the remedies worth measuring.

        For remedies that a first sentence may name, doubles the seeds at each look until a large
        harm is shown or excluded.
        """
        looks = self._looks(len(compared.seeds))
        names = list(dict.fromkeys([*_contenders(compared), *compared.worth_harm]))
        found = compared
        for look, (seeds, error) in enumerate(looks):
            found = replace(found, harm_error=error)
            wanted = names if look == 0 else _open_ones(found)
            while wanted:
                spent_s = self.budget.spent_s
                try:
                    found = self._with(found, wanted, seeds)
                except OutOfBudgetError:
                    return _stopped(
                        found, f"the harm to others takes more than {self.budget.words}"
                    )
                took_s = self.budget.spent_s - spent_s
                # A remedy that replaces a harmful one is measured, too.
                wanted = [name for name in _contenders(found) if not _is_measured(found, name)]
            if not _open_ones(found):
                return found
            if look + 1 < len(looks) and self.budget.left_s < took_s:
                return _stopped(
                    found, f"the harm to others would take more than {self.budget.words}"
                )
        seeds, whose = looks[-1][0], ", ".join(_open_ones(found))
        most = "" if self.rounds is None else ", the most (--max-seeds)"
        return _stopped(found, f"{seeds} seeds were run for the harm of {whose}{most}")

    def _looks(self, seeds: int) -> Sequence[tuple[int, float]]:
        """Seeds and error of each look; the first has the comparison's seeds."""
        rounds = self.rounds
        if rounds is None or seeds >= rounds.most_seeds or seeds < 2:
            rounds = Rounds(max(seeds, 2), first=max(seeds, 2))
            return ((seeds, rounds.error(0)),)
        rounds = replace(rounds, first=seeds)
        return tuple((count, rounds.error(look)) for look, count in enumerate(rounds.looks))

    def _with(self, found: Comparison, names: Iterable[str], count: int) -> Comparison:
        """The comparison with the harm of these remedies on `count` seeds."""
        seeds = [*found.seeds, *range(found.seeds[-1] + 1, found.seeds[-1] + count + 1)][:count]
        plans: list[CompetingPlan] = []
        whole = Plan()
        refused: dict[str, str] = dict(found.not_competing)
        for name in names:
            missing = seeds[len(found.competing.get(name, ())) :]
            plan = competing_plan(found.scenario, [name], missing)
            refused |= plan.refused
            whole.add_all(plan.plan)
            plans.append(plan)
        results = self.run(whole)
        competing: dict[str, Sequence[RunSummary]] = dict(found.competing)
        for plan in plans:
            for name, runs in plan.result(results).items():
                known = competing.get(name, ())
                if name != BASELINE:
                    competing[name] = [*known, *runs]
                elif len(known) < count and runs:
                    competing[name] = [*known[: count - len(runs)], *runs]
        return replace(found, competing=competing, not_competing=refused)


def _contenders(found: Comparison) -> list[str]:
    """Remedies that a first sentence may name for their gain, with those nearly as good."""
    ranking = found.ranking
    if not found.is_search:
        return [] if found.winner is None else [found.winner]
    firsts = [ranking.best, ranking.larger_with_harm]
    firsts += [other.best for other in ranking.elsewhere if other.best.is_had]
    firsts += [
        rival
        for first in firsts[:2]
        if first is not None and not is_gentle(first)
        for rival in rivals_of(first, ranking.deployable)
    ]
    return list(dict.fromkeys(one.remedy for one in firsts if one is not None))


def _is_measured(found: Comparison, name: str) -> bool:
    return name in found.competing or name in found.not_competing


def _open_ones(found: Comparison) -> list[str]:
    return [name for name in _contenders(found) if found.candidates[name].is_harm_open]


def _stopped(found: Comparison, why: str) -> Comparison:
    if found.stopped or not _open_ones(found):
        return found
    return replace(found, stopped=why)
