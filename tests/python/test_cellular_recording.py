"""The rate of scenarios/lte.toml varies within 100 ms as recordings of LTE do."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("cellular", ROOT / "recordings" / "cellular.py")
assert _SPEC is not None
assert _SPEC.loader is not None
cellular = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(cellular)


def test_the_rate_of_100_ms_varies_as_in_recordings() -> None:
    """A second varies less: shadowing and users who come and go are not in the scenario."""
    ours = cellular.of_scenario("lte")
    recorded = list(cellular.RECORDED.values())
    assert 0.0 < ours.low < 0.4
    assert ours.median == pytest.approx(max(one.median for one in recorded), abs=0.1)
    assert ours.high == pytest.approx(min(one.high for one in recorded), abs=0.3)
    means = [one.mean_mbps for one in recorded]
    assert min(means) < ours.mean_mbps < max(means)
    assert ours.deviation < min(one.deviation for one in recorded)


def test_a_traces_figures(tmp_path: Path) -> None:
    trace = tmp_path / "x.down"
    # 12 Mbit/s for half of each second.
    trace.write_text("".join(f"{ms}\n" for ms in range(10_000) if ms % 1000 < 500) + "10000\n")
    found = cellular.of_trace(trace)
    assert found.mean_mbps == pytest.approx(6, rel=0.01)
    assert (found.low, found.high) == pytest.approx((0, 2), rel=0.01)
    assert found.deviation == pytest.approx(0, abs=0.01)
