"""A quick run of the papers: few seeds, and the verdicts they leave undecided."""

from dataclasses import replace
from pathlib import Path

from airtcp.papers import Verdict, load_papers, run
from airtcp.papers.claims import Claim
from airtcp.papers.cross import load_cross
from airtcp.papers.judge import Judged, JudgedClaim

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "papers"


def test_a_quick_run_has_at_least_four_seeds():
    """With fewer its verdicts are mostly "not shown", whatever the full run shows."""
    for paper in load_papers(PAPERS):
        for experiment in paper.file.experiments:
            assert experiment.quick >= 4, (paper.name, experiment.id)
            assert experiment.few == 0 or experiment.few >= experiment.quick
    cross = load_cross(PAPERS)
    assert cross
    assert cross.quick >= 4


def test_a_quick_run_judges_the_default_alone():
    """No reading is spent on it, and nothing on points without a verdict."""
    (paper,) = load_papers(PAPERS, ["wsc-tcp"])
    judged = run([paper.name], quick=True)
    over, silent = judged.readings[paper.name], 0
    assert len(over.verdicts) == 1
    for one in judged.all_claims:
        if one.under_default is Verdict.NOT_SHOWN:
            silent += 1
            assert one.undecided
    assert 0 < silent < len(judged.all_claims)
    measured = {experiment for experiment, _ in judged.outcomes[paper.name].measured}
    assert paper.file.calibrations
    assert not measured & {one.experiment for one in paper.file.calibrations}


def test_what_is_not_yet_decided_is_not_told_as_not_shown() -> None:
    """Few readings leave a claim open; a part that is contradicted does not."""
    one = JudgedClaim(
        Claim("x", "what", "more"), Verdict.NOT_SHOWN, (), Verdict.NOT_SHOWN, few_readings=True
    )
    assert one.outcome is Verdict.UNDECIDED
    assert replace(one, few_readings=False, parts=_parts(Verdict.NOT_SHOWN)).outcome is (
        Verdict.UNDECIDED
    )
    decided = _parts(Verdict.CONTRADICTED, Verdict.NOT_SHOWN)
    assert replace(one, few_readings=False, parts=decided).outcome is Verdict.NOT_SHOWN
    assert replace(one, verdict=Verdict.CONTRADICTED).outcome is Verdict.CONTRADICTED


def _parts(*verdicts: Verdict) -> tuple[Judged, ...]:
    return tuple(
        Judged("", verdict, "", "", part=number) for number, verdict in enumerate(verdicts)
    )
