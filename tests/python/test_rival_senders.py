"""docs/measurements/rivals.md shows the runs of rival-senders.json; PCC and Verus over links."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import airtcp

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_rival_senders.py"))
DATA: dict[str, Any] = json.loads(WRITER["DATA"].read_text("utf-8"))


def test_the_page_is_of_the_data() -> None:
    page = WRITER["PAGE"].read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, "python pages/write_rival_senders.py writes it"


def test_vivace_needs_a_short_queue_and_bears_losses() -> None:
    """Dong et al.: 90 % of the link with a few packets of queue; more than CUBIC at losses."""
    short = WRITER["alone"]("Vivace", 0.0, 5)
    assert short["utilization"] > 0.9
    lossy, cubic = (WRITER["alone"](sender, 0.02, 250) for sender in ("Vivace", "CUBIC"))
    assert lossy["utilization"] > 10 * cubic["utilization"]


def test_a_scavenger_leaves_the_link_to_cubic() -> None:
    """Meng et al.: a primary sender keeps most of its rate, and alone the link is used."""
    row = WRITER["shared"]("CUBIC", "proteus-s", 250)
    assert row["with_second"] > 0.8 * row["before"]
    assert row["alone"] > 0.8


def test_verus_keeps_delays_short_where_the_rate_changes(tmp_path: Path) -> None:
    """Zaki et al.: much less delay than CUBIC's in a deep queue, at most of its throughput."""
    times = [ms for ms in range(1, 1001) for _ in range(2 if ms <= 500 else ms % 2)]
    file = tmp_path / "two-rates.down"
    file.write_text("".join(f"{ms}\n" for ms in [*times, 1000]), "ascii")
    settings = {
        "link.trace": f'{{ down = "{file}", data = "down" }}',
        "link.delay": "25 ms",
        "link.queue.packets": 1000,
        "duration": "60 s",
    }
    cubic, verus = (
        airtcp.run("cellular", settings=settings, remedies=some).summary["flows"][0]
        for some in ([], ["verus:r=2"])
    )
    delays = [flow["delay_p50_ms"] or 0.0 for flow in (cubic, verus)]
    assert 0 < delays[1] < 0.5 * delays[0]
    assert verus["goodput_bps"] > 0.5 * cubic["goodput_bps"]


@pytest.mark.parametrize("remedy", ["vivace:b=0", "proteus-s:d=0", "vivace:c=0"])
def test_its_weights_count(remedy: str) -> None:
    name = remedy.partition(":")[0]
    settings = {"link.loss.rate": 0.02, "duration": "20 s"}
    flows = [
        airtcp.run("lossy-pipe", settings=settings, remedies=[one]).summary["flows"][0]
        for one in (name, remedy)
    ]
    assert flows[0]["goodput_bps"] != flows[1]["goodput_bps"]
