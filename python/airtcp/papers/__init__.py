"""The papers: their scenarios, their claims, and our verdicts on them."""

from airtcp.papers.files import PaperError
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.judgement import Judgement
from airtcp.papers.load import find_papers, load_papers
from airtcp.papers.paper import Paper
from airtcp.papers.rules import Verdict
from airtcp.papers.run_papers import run

__all__ = [
    "JudgedClaim",
    "Judgement",
    "Paper",
    "PaperError",
    "Verdict",
    "find_papers",
    "load_papers",
    "run",
]
