"""The table of a comparison as in its CSV and JSON: one row per remedy."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import cast

from airtcp.comparison.ranking import Candidate
from airtcp.comparison.statistics import PairedDifference
from airtcp.core.catalogue import BASELINE
from airtcp.core.rows import Rows

_MEANS = (
    "goodput_bps",
    "retransmitted_share",
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
)

_DIFFERENCE_COLUMNS = (
    "difference_bps",
    "ci95_low_bps",
    "ci95_high_bps",
    "difference_percent",
    "ci95_low_percent",
    "ci95_high_percent",
)

_HARM_COLUMNS = ("harm_percent", "harm_ci95_low_percent", "harm_ci95_high_percent")


def _harm_row(harm: PairedDifference | None) -> dict[str, object]:
    if harm is None:
        return {}
    return dict(
        zip(
            _HARM_COLUMNS,
            (harm.mean_percent, *(harm.interval_percent or (None, None))),
            strict=True,
        )
    )


def _difference_row(goodput: PairedDifference) -> dict[str, object]:
    low, high = goodput.interval or (None, None)
    low_percent, high_percent = goodput.interval_percent or (None, None)
    return {
        "n": goodput.n,
        "difference_bps": goodput.mean,
        "ci95_low_bps": low,
        "ci95_high_bps": high,
        "difference_percent": goodput.mean_percent,
        "ci95_low_percent": low_percent,
        "ci95_high_percent": high_percent,
        "outcome": goodput.outcome.value,
    }


def comparison_rows(
    totals: Mapping[str, Sequence[Mapping[str, object]]],
    seeds: int,
    differences: Mapping[str, Mapping[str, PairedDifference]],
    harm: Mapping[str, PairedDifference],
    candidates: Mapping[str, Candidate],
    alike: Mapping[str, Sequence[str]],
    means_of: Mapping[str, Mapping[str, float | None]],
    counters: Mapping[str, Mapping[str, float]],
) -> Rows:
    """One row per remedy, baseline first: means over the seeds and the differences.

    Args:
        totals: by remedy, the totals of each of its runs.
        seeds: number of seeds.
        differences: by remedy and metric, `goodput_bps` among them.
        harm: to an unchanged competing flow, where measured.
        candidates: by remedy, its state in the deciding metric, where it has it.
        alike: for each remedy the remedies with identical runs, itself included.
        means_of: by remedy, the baseline included, further columns of means, the same for each.
        counters: by remedy, means of the counters of user-written controls, by column.
    """
    rows: list[dict[str, object]] = [
        {"remedy": BASELINE, "n": seeds, **means_of[BASELINE], **counters[BASELINE]},
        *(
            {
                "remedy": remedy,
                **_difference_row(by["goodput_bps"]),
                **_harm_row(harm.get(remedy)),
                **_decision_row(candidates.get(remedy)),
                **means_of[remedy],
                **counters[remedy],
                "same_as": " ".join(name for name in alike[remedy] if name != remedy) or None,
            }
            for remedy, by in differences.items()
        ),
    ]
    types = {"remedy": "string", "n": "uint32"}
    types |= dict.fromkeys(_DIFFERENCE_COLUMNS, "float64")
    types |= {"outcome": "string"} | dict.fromkeys(_HARM_COLUMNS, "float64")
    types |= {"state": "string", "seeds_to_decide": "uint32", "same_as": "string"}
    types |= dict.fromkeys(means_of[BASELINE], "float64")
    types |= dict.fromkeys((name for each in counters.values() for name in each), "float64")
    types |= dict.fromkeys(_MEANS, "float64")
    return Rows(({**row, **_means_row(totals[str(row["remedy"])])} for row in rows), types)


def _means_row(totals: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Means over the seeds that have a value."""
    means: dict[str, object] = {}
    for name in _MEANS:
        known = [one[name] for one in totals if one.get(name) is not None]
        means[name] = fmean(cast(list[float], known)) if known else None
    return means


def _decision_row(candidate: Candidate | None) -> dict[str, object]:
    if candidate is None:
        return {}
    return {"state": candidate.state.value, "seeds_to_decide": candidate.seeds_to_decide}
