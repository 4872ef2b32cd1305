"""The papers: their scenarios, their claims, and what our runs say of each."""

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
]
