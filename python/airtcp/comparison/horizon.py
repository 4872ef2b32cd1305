"""The horizon of a gain: whether it lasts longer than the runs.

A remedy of slow start raises the goodput of the first seconds: a run of 20 s gives +400 % and one
of 900 s +6 %. Both are true, and neither is useful without its horizon. The best remedy and the
baseline are run `TIMES` as long on the same seeds. A short run is the beginning of the longer one,
so the two give the goodput after the short run's end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from airtcp._core import AirtcpError
from airtcp.comparison.budget import Budget, OutOfBudgetError
from airtcp.comparison.compared import Comparison
from airtcp.comparison.execute import Results
from airtcp.comparison.plan import Plan, PlannedCell, seed_by_seed, seeded_cells
from airtcp.comparison.statistics import PairedDifference, paired_difference
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.core.summary import RunSummary, total

TIMES = 4
"""Length of the longer runs, as a multiple of the duration."""
MAX_SEEDS = 5
"""Seeds of the longer runs."""
_FEWEST_SEEDS = 2
_FACTOR = 2.0
"""A later gain within this factor of the first needs no mention of the horizon."""


@dataclass(frozen=True)
class Horizon:
    """A gain during the runs, and after them."""

    duration_s: float
    later_s: float
    """Length of the time after the runs, in seconds."""
    later: PairedDifference
    """Goodput in that time, against the baseline."""

    def words(self, gain: float, smallest: float) -> str:
        """The end of a sentence on a gain in per cent; empty if the gain lasts."""
        percent = self.later.mean_percent
        interval = self.later.interval_percent
        if percent is None or (interval is None and not self.later.is_exact):
            return ""
        low, high = interval or (percent, percent)
        first, after = _seconds(self.duration_s), _seconds(self.later_s)
        if low > _FACTOR * gain:
            size = amount(self.later)
            return (
                f" in the first {first}, and by {size} in the {after} after: long transfers gain "
                "more than short ones"
            )
        if high >= gain / _FACTOR:
            return ""
        if -smallest < low and high < smallest:
            return f" in the first {first}, and changes nothing after: only short transfers gain"
        if low > 0 and percent >= smallest:
            size = amount(self.later)
            return (
                f" in the first {first}, and by {size} in the {after} after: short transfers gain "
                "more than long ones"
            )
        if high < 0:
            size = amount(self.later)
            return (
                f" in the first {first}, and lowers it by {size} in the {after} after: only short "
                "transfers gain"
            )
        size = amount(self.later, sign=True)
        return (
            f" in the first {first}, less in the {after} after ({size}): short transfers gain more "
            "than long ones"
        )


def horizon_clause(comparison: Comparison) -> str:
    """The horizon of the best remedy's gain as the end of a sentence; empty if it lasts."""
    name = comparison.winner
    if name is None or comparison.metric != "goodput":
        return ""
    found = horizon(comparison, name)
    gain = comparison.decisive[name].mean_percent
    return "" if found is None or gain is None else found.words(gain, comparison.smallest)


def horizon(comparison: Comparison, name: str) -> Horizon | None:
    """The gain of a remedy after the time of the runs; None if that was not run."""
    longer = comparison.longer
    if name not in longer or BASELINE not in longer:
        return None
    short = comparison.summaries
    duration_s = short[BASELINE][0]["duration_s"]
    whole_s = longer[BASELINE][0]["duration_s"]
    before, after = (_later(short[one], longer[one]) for one in (BASELINE, name))
    difference = paired_difference(before, after, is_ratio=True)
    return Horizon(duration_s, whole_s - duration_s, difference)


def _later(short: Sequence[RunSummary], longer: Sequence[RunSummary]) -> list[float]:
    """Goodput after the end of each short run, from the longer run of the same seed, in bit/s."""
    return [
        (_bits(whole) - _bits(part)) / (whole["duration_s"] - part["duration_s"])
        for part, whole in zip(short, longer, strict=False)
    ]


def _bits(run: RunSummary) -> float:
    return 8.0 * total(run, "arrived_bytes")


def with_horizon(
    comparison: Comparison, run: Callable[[Plan], Results], budget: Budget
) -> Comparison:
    """The comparison with longer runs of its best remedy, as far as the budget allows.

    Transfers of a fixed size have no horizon: they end by themselves.
    """
    name = comparison.winner
    runs = comparison.summaries[BASELINE]
    ends = any(flow["completed_s"] is not None for one in runs for flow in one["flows"])
    if name is None or comparison.metric != "goodput" or ends:
        return comparison
    a_run_s = budget.spent_s / len(comparison.finished)
    seeds = MAX_SEEDS
    if a_run_s:
        seeds = int(min(seeds, budget.left_s / (2 * TIMES * a_run_s)))
    if seeds < _FEWEST_SEEDS:
        return comparison
    try:
        cells = _longer_cells(comparison, name, seeds)
        results = run(Plan(seed_by_seed(cells.values())))
    except (AirtcpError, OutOfBudgetError):
        return comparison  # the recording is too short, or the budget is spent
    longer = {
        remedy: [results[cell.key].summary for cell in planned] for remedy, planned in cells.items()
    }
    return replace(comparison, longer=longer)


def _longer_cells(
    comparison: Comparison, name: str, seeds: int
) -> dict[str, tuple[PlannedCell, ...]]:
    duration_s = TIMES * comparison.summaries[BASELINE][0]["duration_s"]
    longer = comparison.scenario.lasting(duration_s)
    written = longer.hash()
    return {
        remedy: seeded_cells(
            written, variant, remedy, comparison.seeds[:seeds], f"{remedy}, {duration_s:g} s"
        )
        for remedy, variant in {BASELINE: longer, name: longer.with_remedies(name)}.items()
    }


def _seconds(value: float) -> str:
    return f"{value:g} s"
