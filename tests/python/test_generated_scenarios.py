"""Scenarios that nobody wrote: drawn from the schema, mended by their refusals, run, and judged.

With `AIRTCP_SCENARIOS=5000` in the environment it draws more, from seed `AIRTCP_FIRST`. A failure
names its seed.
"""

import os
import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import airtcp
from airtcp._core import ScenarioError
from airtcp.core.loading import load_scenario
from scenario_documents import draw, keys, to_toml, topologies

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = int(os.environ.get("AIRTCP_SCENARIOS", "40"))
FIRST = int(os.environ.get("AIRTCP_FIRST", "0"))
A_SHARE = 8
"""The seeds are judged in shares, so that several processes take their parts."""
REFUSAL = re.compile(r'^scenario "[^"]*": [a-z][a-z0-9_.\[\]]*( = .*)?: \S.*$')


@pytest.fixture
def files(tmp_path: Path) -> Mapping[str, Path]:
    """A file for each kind of key that names one."""
    (tmp_path / "lost.csv").write_text("packet,flow\n3,0\n10,0\n11,0\n")
    (tmp_path / "stops.csv").write_text("start_ms,length_ms\n100,50\n700,400\n")
    (tmp_path / "recorded.csv").write_text(
        "time_ms,delay_ms,loss\n0,20,0\n100,35,0.01\n400,22.5,0\n"
    )
    return {
        "rtt_log": ROOT / "recordings" / "wifi-spikes.ping",
        "recorded": tmp_path / "recorded.csv",
        "lost_packets": tmp_path / "lost.csv",
        "stops": tmp_path / "stops.csv",
    }


@pytest.mark.timeout(900)
@pytest.mark.parametrize("share", range(A_SHARE))
def test_whatever_is_accepted_runs_and_adds_up(share: int, files: Mapping[str, Path]) -> None:
    names = [entry["name"] for entry in airtcp.remedies_frame().iter_rows(named=True)]
    for seed in range(FIRST + share, FIRST + SCENARIOS, A_SHARE):
        rng = random.Random(seed)
        document, scenario, refusals = draw(rng, files)
        about = f"seed {seed}:\n{to_toml(document)}"
        for refusal in refusals:
            assert REFUSAL.match(refusal), (
                f"{refusal!r} names no key, or has several lines; {about}"
            )
        # Written out in full and read again it is the same scenario.
        assert load_scenario(scenario.to_toml()).hash() == scenario.hash(), about
        plain = airtcp.run(scenario, seed)
        _adds_up(plain, about)
        watched = airtcp.run(
            scenario, seed, probes=["cwnd", "srtt"], rtts=True, packets=True, air=True
        )
        assert watched.summary["digest"] == plain.summary["digest"], f"observing changed {about}"
        remedy = rng.choice(names)
        try:
            remedied = scenario.with_remedies(remedy)
        except ScenarioError:
            continue
        _adds_up(airtcp.run(remedied, seed), f"{remedy}, {about}")


def _adds_up(run: airtcp.Run, about: str) -> None:
    summary = run.summary
    for flow in summary["flows"]:
        assert flow["segments_retransmitted"] <= flow["segments_sent"], about
        assert flow["timeouts_spurious"] <= flow["timeouts"], about
        assert flow["goodput_bps"] >= 0, about
    fairness = summary["fairness"]
    # None where no flow has delivered anything yet.
    assert fairness is None or 0 <= fairness <= 1 + 1e-9, about


@pytest.mark.long
def test_every_topology_and_most_keys_are_drawn(files: Mapping[str, Path]) -> None:
    """A generator whose documents lose all their keys would prove nothing."""
    found: set[str] = set()
    kinds: set[object] = set()
    for seed in range(150):
        document, _, _ = draw(random.Random(seed), files)
        found |= set(keys(document))
        kinds.add(document["topology"])
    assert kinds == {one["const"] for one in topologies()}
    assert len(found) > 150
