"""The five papers: their scenarios, their claims, and what our runs say of each."""

from airtcp.papers.claims import Claim, Part
from airtcp.papers.judge import JudgedClaim, Verdict, judge_paper
from airtcp.papers.outcomes import Outcomes, carry_out
from airtcp.papers.paper import Paper, find_papers, load_papers

__all__ = [
    "Claim",
    "JudgedClaim",
    "Outcomes",
    "Paper",
    "Part",
    "Verdict",
    "carry_out",
    "find_papers",
    "judge_paper",
    "load_papers",
]
