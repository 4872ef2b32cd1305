"""The papers: their scenarios, their claims, and our verdicts on them."""

import os
from collections.abc import Sequence
from pathlib import Path

from airtcp.comparison.dask import executor_at
from airtcp.papers.check import PaperError
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.judgement import Judgement, judge_papers
from airtcp.papers.paper import Paper, find_papers, load_papers
from airtcp.papers.rules import Verdict

__all__ = [
    "JudgedClaim",
    "Judgement",
    "Paper",
    "PaperError",
    "Verdict",
    "find_papers",
    "judge_papers",
    "load_papers",
    "run",
]


def run(
    papers: Sequence[str] | None = None,
    *,
    quick: bool = False,
    first_seed: int = 1,
    seed_sets: int = 1,
    readings: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
) -> Judgement:
    """Runs papers and judges their claims, as `airtcp papers` does.

    >>> import airtcp
    >>> judged = airtcp.papers.run(["performance-anomaly"], quick=True, readings=0)
    >>> {one.claim.id: str(one.verdict) for one in judged.all_claims}["6c"]
    'reproduced'

    Args:
        papers: names or numbers; None means all of them, and every remedy on every scenario.
        quick: whether to use fewer seeds and shorter runs.
        first_seed: the first seed.
        seed_sets: number of disjoint sets of seeds to judge.
        readings: maximum number of readings of each paper to judge in addition to the default; None
            runs the whole grid where it is cheap, else every departure at one point.
        folder: the folder of papers; None takes airtcp's.
        out: a folder; finished runs are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then make the runs.

    Raises:
        ScenarioError: a name, a scenario, a remedy or a paper's file is wrong.
        RunError: a run failed.
        AirtcpError: no Dask scheduler answers.
        OSError: a finished run cannot be stored.
    """
    where = find_papers() if folder is None else Path(folder)
    chosen = load_papers(where, papers)
    return judge_papers(
        chosen,
        where,
        quick=quick,
        with_cross=papers is None,
        first_seed=first_seed,
        seed_sets=seed_sets,
        readings=readings,
        out=None if out is None else Path(out),
        jobs=jobs,
        executor=executor_at(dask),
    )
