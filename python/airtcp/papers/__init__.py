"""The papers: their scenarios, their claims, and our verdicts on them.

The modules, in the order in which a run uses them:

- A paper's files: `load`, `files`, `paper`, `experiment`, `claims`, `facts`, `readings`, `texts`;
  `check` and `check_readings` before anything runs.
- Runs: `run_papers` begins; `used` has the points to run, `read_as` an experiment under another
  reading, `carry_out` the runs, `measures` and `sampled` their measurements, kept in `outcomes`.
- Verdicts: `judge` compares by the `rules` on `estimates`; `judge_readings` does so for readings of
  the `open_points`, by `affecting` and `disagreement`, into `verdicts_by_reading`.
- Results: `judgement` has all; `calibration`, `sensitivity`, `cross`, `today` are further tables.
- `on_kernel` verifies papers on a Linux kernel instead.
"""

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
