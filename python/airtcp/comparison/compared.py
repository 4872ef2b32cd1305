"""Results of a scenario as written against each remedy, on common seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, cast

from airtcp._core import Scenario
from airtcp.comparison.calmest import LATENCY, calmest, may_be_calmest
from airtcp.comparison.candidates import candidate
from airtcp.comparison.cells import Cell, cell_rows
from airtcp.comparison.control_counters import means
from airtcp.comparison.metrics import METRICS as METRICS_BY_NAME
from airtcp.comparison.metrics import needless_share
from airtcp.comparison.ranking import (
    SMALLEST_PERCENT,
    Aim,
    Candidate,
    Ranking,
    State,
    direction,
    machines,
    rank,
    reach,
)
from airtcp.comparison.ranking.best import best_of
from airtcp.comparison.shown import Shown
from airtcp.comparison.simultaneous import distinct_variances, simultaneous
from airtcp.comparison.statistics import ERROR, PairedDifference, paired_difference
from airtcp.comparison.table import comparison_rows
from airtcp.core.catalogue import BASELINE
from airtcp.core.rows import Rows
from airtcp.core.summary import RunSummary

if TYPE_CHECKING:
    import polars as pl

METRICS = ("goodput_bps", "retransmitted_share", "timeouts", "timeouts_spurious")
"""The measurements of a run that a comparison pairs; the first decides which remedy is best."""


_LATENCIES = ("rtt-p50", "rtt-p95", "rtt-p99")
"""Latency metrics of the load, as named in the table."""
_FLOOD_SHARE = 0.05
_FLOOD_FACTOR = 2.0
MAX_NAMED = 3
"""Maximum number of undecided remedies that a sentence names; it counts the others."""
_MAX_HELPFUL, _MAX_UNDECIDED, _MAX_HARMFUL = 12, 8, 4
"""Maximum rows of each kind in a search; the CSV and JSON have all."""


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The finished cells of a comparison, and the findings from them.

    `remedies` begins with "baseline", the scenario as written, and keeps the order given.
    """

    scenario: Scenario
    remedies: tuple[str, ...]
    seeds: tuple[int, ...]
    finished: tuple[Cell, ...]
    metric: str = "goodput"
    """The metric that decides which remedy is best, one of `airtcp.comparison.metrics.METRICS`."""
    is_search: bool = False
    """Whether every remedy of the catalogue was tried: the intervals then hold jointly for all."""
    chosen_from: int = 0
    """From how many settings these remedies were chosen, on other seeds; 0 if not chosen so."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Remedies of a search that do not apply to the link, and why."""
    sized: Mapping[str, str] = field(default_factory=dict)
    """Remedies of a search that were sized to the link, and the reason for the size."""
    competing: Mapping[str, Sequence[RunSummary]] = field(default_factory=dict)
    """Runs in which an unchanged flow competes with a flow that has the remedy, where made: in the
    order of the seeds, "baseline" included.
    """
    not_competing: Mapping[str, str] = field(default_factory=dict)
    """Remedies that cannot be given to one competing flow only, and why."""
    harm_error: float = ERROR
    """Probability that any interval of a harm misses."""
    longer: Mapping[str, Sequence[RunSummary]] = field(default_factory=dict)
    """Longer runs of the best remedy and of "baseline" on the first seeds, where made."""
    carried: tuple[float, ...] = ()
    """Goodput of an unresponsive sender on each seed, in bits a second, where measured."""
    can: str = "all"
    """Changes that the asker can make, as in `--can`: the best is the best deployable one."""
    smallest: float = SMALLEST_PERCENT
    """The smallest effect worth having, in per cent."""
    error: float = ERROR
    """Probability that any interval misses; with rounds, the share of the last look."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings applied to the scenario, by dotted key."""
    unstored: OSError | None = None
    """The error that kept finished runs from being stored in `out`; None if stored."""
    stopped: str = ""
    """Why the rounds ended before the answer was decided; empty if they did not."""

    @cached_property
    def among(self) -> int:
        """Number of comparisons that the intervals jointly hold for; in a search, distinct ones."""
        if not self.is_search:
            return 1
        return max(1, len(distinct_variances(self.pairs(self.metric))))

    @cached_property
    def cells(self) -> "pl.DataFrame":
        """One row per cell: remedy, seed, totals, counters, and the whole summary as JSON."""
        return self.cell_rows.frame()

    @cached_property
    def cell_rows(self) -> Rows:
        """The same for any reader of Arrow."""
        return cell_rows(self.finished)

    def values(self, remedy: str, metric: str) -> list[float]:
        """The measurements of one remedy in the order of the seeds."""
        return [float(cast(float, totals[metric])) for totals in self._totals[remedy]]

    @cached_property
    def _totals(self) -> dict[str, list[dict[str, object]]]:
        """The totals of each remedy's runs, in the order of the seeds."""
        by: dict[str, list[dict[str, object]]] = {remedy: [] for remedy in self.remedies}
        for cell in sorted(self.finished, key=lambda cell: cell.key.seed):
            by[cell.key.remedy or BASELINE].append(cell.totals)
        return by

    @cached_property
    def differences(self) -> dict[str, dict[str, PairedDifference]]:
        """For each remedy but the baseline, the paired difference of each of `METRICS`."""
        before = {metric: self.values(BASELINE, metric) for metric in METRICS}
        by = {
            metric: self._differences(
                {name: (before[metric], self.values(name, metric)) for name in self.remedies[1:]}
            )
            for metric in METRICS
        }
        return {
            name: {metric: by[metric][name] for metric in METRICS} for name in self.remedies[1:]
        }

    def _differences(
        self,
        pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]],
        error: float | None = None,
    ) -> dict[str, PairedDifference]:
        error = self.error if error is None else error
        if self.is_search:
            return simultaneous(pairs, error)
        return {
            name: paired_difference(before, after, error=error, is_ratio=True)
            for name, (before, after) in pairs.items()
        }

    @cached_property
    def summaries(self) -> dict[str, list[RunSummary]]:
        """The runs of each remedy in the order of the seeds."""
        by: dict[str, list[RunSummary]] = {remedy: [] for remedy in self.remedies}
        for cell in sorted(self.finished, key=lambda cell: cell.key.seed):
            by[cell.key.remedy or BASELINE].append(cell.summary)
        return by

    def runs_for(self, metric: str) -> Mapping[str, Sequence[RunSummary]]:
        """The runs of each remedy from which a metric is measured."""
        return self.competing if METRICS_BY_NAME[metric].is_of_others else self.summaries

    def compared(self, metric: str) -> dict[str, PairedDifference]:
        """For each remedy but the baseline, the paired difference of a metric.

        Over the seeds in which both runs have it; a remedy without any is left out.
        """
        if metric not in self._compared:
            self._compared[metric] = self._differences(self.pairs(metric))
        return self._compared[metric]

    @cached_property
    def _compared(self) -> dict[str, dict[str, PairedDifference]]:
        return {}

    def pairs(self, metric: str) -> dict[str, tuple[list[float], list[float]]]:
        """For each remedy that has it, the baseline's and the remedy's measurements of a metric."""
        measure = METRICS_BY_NAME[metric].of
        measured = {
            name: [measure(run) for run in runs] for name, runs in self.runs_for(metric).items()
        }
        found = {}
        for remedy in self.remedies[1:]:
            pairs = [
                (before, after)
                for before, after in zip(
                    measured.get(BASELINE, ()), measured.get(remedy, ()), strict=False
                )
                if before is not None and after is not None
            ]
            if pairs:
                found[remedy] = ([one for one, _ in pairs], [one for _, one in pairs])
        return found

    @cached_property
    def decisive(self) -> dict[str, PairedDifference]:
        """Paired differences of the deciding metric, for each remedy that has it."""
        return self.compared(self.metric)

    @cached_property
    def harm(self) -> dict[str, PairedDifference]:
        """Harm to a competing flow, for the remedies in `competing`.

        The paired difference in goodput of an unchanged flow: competing with the remedy, against
        competing with another unchanged flow.
        """
        return self._differences(self.pairs("harm"), self.harm_error)

    @cached_property
    def states(self) -> dict[str, State]:
        """State of each remedy's effect on the deciding metric."""
        return {name: one.state for name, one in self.candidates.items()}

    @cached_property
    def room_percent(self) -> float | None:
        """Largest possible gain: link capacity over the baseline, or None if unknown."""
        if not self.carried:
            return None
        by = paired_difference(
            self.values(BASELINE, "goodput_bps"), self.carried, error=self.error, is_ratio=True
        )
        if by.mean_percent is None or (by.interval_percent is None and not by.is_exact):
            return None
        return max(0.0, by.interval_percent[1] if by.interval_percent else by.mean_percent)

    def is_better(self, remedy: str) -> bool:
        """Whether a remedy is shown to improve the deciding metric by a worthwhile amount."""
        return remedy in self.candidates and self.candidates[remedy].helps

    def floods(self, remedy: str) -> bool:
        """Whether a remedy, unlike the baseline, sends much data that the receiver already has."""
        needless = fmean(map(needless_share, self.summaries[remedy]))
        usual = fmean(map(needless_share, self.summaries[BASELINE]))
        return needless > _FLOOD_SHARE and needless > _FLOOD_FACTOR * usual

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """Each remedy as a candidate for the ranking."""
        return {name: self._candidate(name, by) for name, by in self.decisive.items()}

    def _candidate(self, name: str, by: PairedDifference) -> Candidate:
        found = candidate(
            name,
            METRICS_BY_NAME[self.metric],
            by,
            self.compared("goodput")[name],
            self.harm.get(name) if self.metric != "harm" else None,
            self.smallest,
            floods=self.floods(name),
        )
        room = self.room_percent if self.metric == "goodput" else None
        return found if room is None else found.bounded(room, self.smallest)

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking of the remedies for an asker who may change `can`."""
        return self.ranking_for(self.can)

    def ranking_for(self, can: str) -> Ranking:
        """The ranking for another asker.

        Raises:
            ScenarioError: the asker is unknown.
        """
        asked = reach(can, direction(self.scenario), machines(self.scenario))
        return rank(self.candidates.values(), asked, self.smallest)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The remedies, best first, regardless of who can deploy them.

        Remedies shown to help, then undecided ones, then the others, each by mean; remedies that
        help by flooding the link follow the others.
        """
        return tuple(one.remedy for one in self.ranking.candidates)

    @cached_property
    def alike(self) -> dict[str, tuple[str, ...]]:
        """For each remedy the remedies with identical runs on every seed, itself included."""
        by: dict[tuple[str, ...], list[str]] = {}
        digests = {
            name: tuple(run["digest"] for run in runs) for name, runs in self.summaries.items()
        }
        for name in self.remedies[1:]:
            by.setdefault(digests[name], []).append(name)
        return {name: tuple(by[digests[name]]) for name in self.remedies[1:]}

    def is_as_written(self, remedy: str) -> bool:
        """Whether every run with the remedy is identical to the baseline's."""
        pairs = zip(self.summaries[BASELINE], self.summaries[remedy], strict=True)
        return all(one["digest"] == other["digest"] for one, other in pairs)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The remedies worth a row: all that the user named.

        In a search, remedies that help, that may help, or that do most harm; of remedies with
        identical runs, only the first.
        """
        if not self.is_search:
            return self.ranked
        rows: dict[tuple[str, ...], str] = {}
        for name in (self.best, *self.named, *self.ranked):
            rows.setdefault(self.alike[name], name)
        one_each = [name for name in self.ranked if rows[self.alike[name]] == name]
        helpful = [name for name in one_each if self.is_better(name)]
        undecided = [name for name in one_each if self.candidates[name].is_open]
        harmful = [
            name
            for name in one_each
            if self.states[name] is State.SHOWN and name not in {*helpful, *undecided}
        ]
        if METRICS_BY_NAME[self.metric].is_of_others:
            # Remedies that harm others were requested explicitly.
            return tuple([*helpful, *undecided, *reversed(harmful)][: 2 * _MAX_HELPFUL])
        kept = helpful[:_MAX_HELPFUL] + undecided[:_MAX_UNDECIDED] + harmful[-_MAX_HARMFUL:]
        # Remedies named in sentences have a row, in the order of the ranking.
        kept += [name for name in self.named if not set(self.alike[name]) & set(kept)]
        kept.sort(key=self.ranked.index)
        return tuple(kept or one_each[:_MAX_HARMFUL])

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The remedies that the sentences of a search name, the recommended one first."""
        ranking = self.ranking
        first = [ranking.best, ranking.larger_with_harm, self.calmest]
        first += [other.best for other in ranking.elsewhere]
        aims = [judged.ranking for judged in self.by_aim.values()]
        first += [one.best for one in aims]
        for found in (ranking, *aims):
            first += self.one_a_row(found.undecided)[:MAX_NAMED]
        return tuple(dict.fromkeys(one.remedy for one in first if one is not None))

    def one_a_row(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The first of each set of remedies with identical runs."""
        rows: dict[tuple[str, ...], Candidate] = {}
        for one in candidates:
            rows.setdefault(self.alike[one.remedy], one)
        return list(rows.values())

    @cached_property
    def calmest(self) -> Candidate | None:
        """If nothing is shown to raise goodput: the deployable remedy with the lowest latency."""
        if self.metric != "goodput" or self.ranking.best is not None:
            return None
        return calmest(self.ranking.deployable, self.compared(LATENCY))

    @cached_property
    def by_aim(self) -> "dict[Aim, Comparison]":
        """The comparison judged for each aim; empty if no probes ran under load."""
        if not any(run.get("under_load", {}).get("exchanges") for run in self.summaries[BASELINE]):
            return {}
        judged = {aim: replace(self, metric=aim.metric) for aim in Aim}
        return {aim: one for aim, one in judged.items() if one.decisive}

    @cached_property
    def is_decided(self) -> bool:
        """Whether more seeds would leave the answer unchanged."""
        if not self.is_search:
            return State.UNDECIDED not in self.states.values()
        if not self.ranking.is_decided:
            return False
        is_of_latency = self.metric == "goodput" and self.ranking.best is None
        return not is_of_latency or not may_be_calmest(
            self.ranking.deployable, self.compared(LATENCY)
        )

    @property
    def worth_harm(self) -> tuple[str, ...]:
        """Remedies for which harm to others matters: requested and helpful ones."""
        if not self.is_search:
            return self.ranked
        return tuple(name for name in self.shown if self.is_better(name))

    def row_name(self, remedy: str) -> str:
        """In a search, a remedy joined with its equals on this link: "spike = zbs"."""
        if not self.is_search:
            return remedy
        others = [name for name in self.alike[remedy] if name != remedy]
        more = f" and {len(others) - 2} more" if len(others) > 2 else ""
        return " = ".join((remedy, *others[:2])) + more

    @cached_property
    def winner(self) -> str | None:
        """The remedy to recommend, in a search a deployable one; None without one."""
        best = self.ranking.best if self.is_search else best_of(self.ranking.candidates)
        return best.remedy if best else None

    @property
    def best(self) -> str:
        """The winner; if nothing is shown to help, the first deployable remedy."""
        if self.winner is not None:
            return self.winner
        within_reach = self.ranking.deployable if self.is_search else ()
        return within_reach[0].remedy if within_reach else self.ranked[0]

    @cached_property
    def table(self) -> "pl.DataFrame":
        """One row per remedy, baseline first: means over the seeds and the goodput's difference.

        `state` and `seeds_to_decide` refer to the deciding metric; `same_as` names the remedies
        with the same runs; the columns `counter_…`, `zero_windows`, `zero_thresholds` and
        `instructions` are of controls in BPF and Python; the columns `harm_…` are the
        difference in goodput of an unchanged competing flow, in per cent, where that was measured.
        """
        return self.rows.frame()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table for any reader of Arrow's C stream, such as pandas, DuckDB and pyarrow."""
        return self.rows.__arrow_c_stream__(requested_schema)

    @cached_property
    def rows(self) -> Rows:
        """The table, whether Polars is installed or not."""
        return comparison_rows(
            self._totals,
            len(self.seeds),
            self.differences,
            self.harm,
            self.candidates,
            self.alike,
            {name: self._means(name) for name in self.remedies},
            {name: means(runs) for name, runs in self.summaries.items()},
        )

    def _means(self, remedy: str) -> dict[str, float | None]:
        """Means of the latencies, and of everything that some run measured under load."""
        found: dict[str, float | None] = {}
        for name, metric in METRICS_BY_NAME.items():
            if not (name in _LATENCIES or metric.under_load or metric.column):
                continue
            measured = [metric.of(run) for run in self.summaries[remedy]]
            known = [value for value in measured if value is not None]
            found[name.replace("-", "_")] = fmean(known) if known else None
        return found
