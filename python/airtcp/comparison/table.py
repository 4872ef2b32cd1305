"""The table of a comparison as in its CSV and JSON: one row per remedy."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from airtcp.comparison.ranking import Candidate
from airtcp.comparison.statistics import PairedDifference
from airtcp.core.catalogue import BASELINE

if TYPE_CHECKING:
    import polars as pl

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

_HARM_COLUMNS = ("beside_percent", "beside_ci95_low_percent", "beside_ci95_high_percent")


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


def comparison_table(
    cells: "pl.DataFrame",
    seeds: int,
    differences: Mapping[str, Mapping[str, PairedDifference]],
    harm: Mapping[str, PairedDifference],
    candidates: Mapping[str, Candidate],
    alike: Mapping[str, Sequence[str]],
    means_of: Mapping[str, Mapping[str, float | None]],
    counters: Mapping[str, Mapping[str, float]],
) -> "pl.DataFrame":
    """One row per remedy, baseline first: means over the seeds and the differences.

    Args:
        cells: one row per cell.
        seeds: number of seeds.
        differences: by remedy and metric, `goodput_bps` among them.
        harm: to an unchanged competing flow, where measured.
        candidates: by remedy, its state in the deciding metric, where it has it.
        alike: for each remedy the remedies with identical runs, itself included.
        means_of: by remedy, the baseline included, further columns of means, the same for each.
        counters: by remedy, means of the counters of user-written controls, by column.
    """
    import polars as pl

    means = cells.group_by("remedy").agg(pl.col(*_MEANS).mean())
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
    schema = {"remedy": pl.String, "n": pl.UInt32}
    schema |= dict.fromkeys(_DIFFERENCE_COLUMNS, pl.Float64)
    schema |= {"outcome": pl.String} | dict.fromkeys(_HARM_COLUMNS, pl.Float64)
    schema |= {"state": pl.String, "seeds_to_decide": pl.UInt32, "same_as": pl.String}
    schema |= dict.fromkeys(means_of[BASELINE], pl.Float64)
    schema |= dict.fromkeys((name for each in counters.values() for name in each), pl.Float64)
    return pl.DataFrame(rows, schema=schema).join(
        means, on="remedy", how="left", maintain_order="left"
    )


def _decision_row(candidate: Candidate | None) -> dict[str, object]:
    if candidate is None:
        return {}
    return {"state": candidate.state.value, "seeds_to_decide": candidate.seeds_to_decide}
