"""What bounds Copa where acknowledgments are delayed unevenly, and its table in rivals.md."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_copa.py"))


def test_the_page_is_of_the_data() -> None:
    rows = json.loads(WRITER["DATA"].read_text("utf-8"))["rows"]
    assert WRITER["table"](rows) in WRITER["PAGE"].read_text("utf-8")


@pytest.mark.parametrize("remedy", ["copa", "copa:competes=0"])
def test_a_delay_that_is_no_queue_bounds_its_rate(remedy: str) -> None:
    """Arun & Balakrishnan §2.1: the target is 1/(δ·(RTTstanding - RTTmin)).

    With its competitive mode (§2.2) δ is at times less, and the rate up to twice that of 0.5.
    """
    row = WRITER["measured"]("lte", remedy, 0.5)
    assert row["queue_packets"] < 0.1
    assert row["difference_ms"] > 5
    most = 1.35 if remedy == "copa:competes=0" else 2.0
    assert 0.65 < row["goodput_mbps"] / row["target_mbps"] < most
