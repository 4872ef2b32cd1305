"""Comparisons in processes that multiprocessing forks after one was made here."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing, airtcp
S = {"duration": "1 s", "link.loss.rate": 0.01}
def sentence(_):
    return airtcp.compare("lossy-pipe", ["bbr"], 2, S).verdict[0]
def table(_):
    try:
        return airtcp.compare("lossy-pipe", ["bbr"], 2, S).table.height
    except airtcp.RunError as error:
        return str(error)
if __name__ == "__main__":
    first = airtcp.compare("lossy-pipe", ["bbr"], 2, S)
    first.table
    with multiprocessing.get_context("METHOD").Pool(1) as pool:
        assert pool.map(sentence, [0]) == [first.verdict[0]]
        print(pool.map(table, [0])[0])
"""


@pytest.mark.parametrize(
    ("method", "expected"),
    [("fork", 'use multiprocessing.get_context("forkserver") or "spawn"'), ("forkserver", "2")],
)
def test_a_forked_process_answers_or_says_why_not(
    method: str, expected: str, tmp_path: Path
) -> None:
    """Polars' threads do not survive a fork: its tables would wait for them silently."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.replace("METHOD", method))
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
