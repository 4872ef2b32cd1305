"""Runs of the lossy pipe, many at a time, and measurements of others on it."""

import json
import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from scipy import stats

from airtcp import _core

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "scenarios" / "lossy-pipe.toml"

Settings = Mapping[str, str | float | bool]


def oracle_lines(name: str) -> list[dict[str, object]]:
    """The runs in the file `name`; an empty list if the folder is absent."""
    folder = Path(os.environ.get("AIRTCP_ORACLES", ROOT.parent / "shared" / "oracles"))
    file = folder / name
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines()]


@dataclass(frozen=True)
class Goodputs:
    """The goodputs of several seeds."""

    each_bps: tuple[float, ...]

    @property
    def mean_bps(self) -> float:
        """Their mean."""
        return statistics.fmean(self.each_bps)

    def __str__(self) -> str:
        n = len(self.each_bps)
        if n < 2:
            return f"{self.mean_bps / 1e6:.3f} Mbit/s (one run)"
        error = statistics.stdev(self.each_bps) / n**0.5
        half = float(stats.t.ppf(0.975, n - 1)) * error
        return f"{self.mean_bps / 1e6:.3f} ± {half / 1e6:.3f} Mbit/s (95 %, {n} seeds)"

    def assert_near(self, expected_bps: float, tolerance: float, what: str) -> None:
        """The mean lies within a share `tolerance` of the expected rate."""
        ratio = self.mean_bps / expected_bps
        text = f"{what}: airtcp {self}, expected {expected_bps / 1e6:.3f}: ratio {ratio:.3f}"
        print(text)  # `pytest -s` shows how near each is
        assert abs(ratio - 1) <= tolerance, f"{text}, not within {tolerance:.0%}"


@pytest.fixture(scope="session")
def goodputs() -> Callable[[Settings, int], Goodputs]:
    """Goodputs of the lossy pipe under settings, for seeds 1 to n."""

    def measure(settings: Settings, seeds: int) -> Goodputs:
        texts = [
            (key, json.dumps(value) if isinstance(value, bool) else str(value))
            for key, value in settings.items()
        ]
        scenario = _core.Scenario.load(SCENARIO, texts)
        cells = [(scenario, seed) for seed in range(1, seeds + 1)]
        goodputs = []
        for result in _core.run_many(cells, os.cpu_count() or 1):
            assert isinstance(result, _core.RunResult), result
            summary = json.loads(result.summary())
            delivered = sum(flow["delivered_bytes"] for flow in summary["flows"])
            goodputs.append(8 * delivered / summary["duration_s"])
        return Goodputs(tuple(goodputs))

    return measure
