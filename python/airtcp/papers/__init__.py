"""The five papers: their scenarios, their claims, and what our runs say of each."""

from airtcp.papers.judge import JudgedClaim, Verdict
from airtcp.papers.judgement import Judgement, judge_papers
from airtcp.papers.paper import Paper, PaperError, find_papers, load_papers

__all__ = [
    "JudgedClaim",
    "Judgement",
    "Paper",
    "PaperError",
    "Verdict",
    "find_papers",
    "judge_papers",
    "load_papers",
]
