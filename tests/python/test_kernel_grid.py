"""The kernel compared with the simulation: criteria of agreement, and the page's tables."""

import json
import runpy
from pathlib import Path
from typing import Any, cast

import pytest

from airtcp._core import ScenarioError
from airtcp.comparison.grid import Grid, StudyError, load_grid
from airtcp.comparison.grid import Setting as Part
from airtcp.core.summary import RunSummary
from airtcp.kernel.grid import Setting, document, half_width, resimulated, run_both
from airtcp.kernel.runs import Measurement

ROOT = Path(__file__).resolve().parents[2]


def _setting(measured: list[float], simulated: list[float]) -> Setting:
    def run(bps: float) -> dict[str, Any]:
        return {
            "goodput_bps": bps,
            "retransmissions": 2,
            "timeouts": 1,
            "kernel": "6.1-test",
            "late_median_ms": 0.02,
            "late_p99_ms": 0.1,
            "late_worst_ms": 0.9,
            "duration_s": "8",
            "flows": [{"segments_retransmitted": 3, "timeouts": 0}],
        }

    return Setting(
        "a link",
        "Reno",
        tuple(cast(Measurement, run(bps)) for bps in measured),
        tuple(cast(RunSummary, run(bps)) for bps in simulated),
    )


@pytest.mark.parametrize(
    ("measured", "simulated", "agreement"),
    [
        ([1.0, 1.0], [1.09, 1.1], "near"),
        # Half the interval of two values is 12.706 times their deviation over the root of two.
        ([1.0, 2.0], [1.0, 1.4], "inside"),
        ([1.0, 1.001], [1.2, 2.2], "off"),
        # The kernel's mean is inside the simulation's interval, and not the other way round.
        ([1.0, 1.01], [0.5, 2.0], "off"),
        ([0.0, 0.0], [1.0, 1.0], "off"),
        ([1.0, 1.0], [0.0, 0.0], "off"),
    ],
)
def test_agreement_is_near_or_inside_both(
    measured: list[float], simulated: list[float], agreement: str
) -> None:
    assert _setting(measured, simulated).agreement == agreement


def test_half_an_interval_is_students() -> None:
    # t of 0.975 with 2 degrees of freedom is 4.3027; the deviation of 1, 2, 3 is 1.
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.3027 / 3**0.5, abs=1e-4)
    assert half_width([1.0]) is None


def test_a_setting_that_no_kernel_can_have_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "airtcp-net"
    program.write_text("#!/bin/sh\necho 'airtcp-net: no such control' >&2; exit 2\n")
    program.chmod(0o755)
    monkeypatch.setattr("airtcp.kernel.runs.find_program", lambda: str(program))
    link = Part("pipe", {}, ROOT / "scenarios" / "lossy-pipe.toml")
    grid = Grid("small", "", 1, (), (link,), (Part("Jersey", {"duration": "1 s"}),))
    with pytest.raises(ScenarioError, match="no such control"):
        run_both(grid)


def test_simulating_again_keeps_what_the_kernel_did() -> None:
    link = Part("pipe", {}, ROOT / "scenarios" / "lossy-pipe.toml")
    grid = Grid("small", "", 2, (), (link,), (Part("Reno", {"duration": "1 s"}),))
    kernel = {"goodput_bps": [1e6, 1e6], "half_width": 0.0}
    past = {"seeds": 2, "settings": [{"link": "pipe", "stack": "Reno", "kernel": kernel}]}
    one = resimulated(past, grid)["settings"][0]
    assert one["kernel"] == kernel
    assert one["agreement"] == "off"
    assert one["ratio"] == pytest.approx(2e6 / sum(one["simulated"]["goodput_bps"]))
    past["settings"][0]["stack"] = "CUBIC"
    with pytest.raises(StudyError, match="make verify"):
        resimulated(past, grid)


def test_simulating_again_leaves_out_what_the_kernel_left_out() -> None:
    link = Part("pipe", {}, ROOT / "scenarios" / "lossy-pipe.toml")
    stacks = tuple(Part(name, {"duration": "1 s"}) for name in ("Reno", "CUBIC"))
    kernel = {"goodput_bps": [1e6], "half_width": None}
    past = {
        "seeds": 1,
        "settings": [{"link": "pipe", "stack": "Reno", "kernel": kernel}],
        "left_out": ["pipe, CUBIC"],
    }
    again = resimulated(past, Grid("small", "", 1, (), (link,), stacks))
    assert [one["stack"] for one in again["settings"]] == ["Reno"]
    assert again["left_out"] == ["pipe, CUBIC"]


def test_the_grid_has_thirty_settings_at_least() -> None:
    grid = load_grid(ROOT / "docs" / "measurements" / "real.toml")
    assert len(grid.links) * len(grid.stacks) >= 30


def test_the_document_tells_the_settings() -> None:
    told = document([_setting([1e6, 2e6], [1e6, 3e6])])
    assert (told["kernel"], told["seeds"], told["seconds"]) == ("6.1-test", 2, 8.0)
    row = cast(list[dict[str, Any]], told["settings"])[0]
    assert row["ratio"] == pytest.approx(0.75)
    assert row["simulated"]["retransmissions"] == [3, 3]


def test_the_tables_are_of_the_runs_whose_data_are_kept() -> None:
    writer = runpy.run_path(str(ROOT / "pages" / "write_real.py"))
    page = (ROOT / "docs" / "measurements" / "real.md").read_text("utf-8")
    run = json.loads((ROOT / "docs" / "measurements" / "real.json").read_text("utf-8"))
    assert len(run["settings"]) >= 30
    assert writer["written"](page, run) == page, "make verify writes it"
    speed = json.loads((ROOT / "docs" / "measurements" / "real-speed.json").read_text("utf-8"))
    table = runpy.run_path(str(ROOT / "benches" / "emulate.py"))["table"]
    assert writer["put"](page, "speed", table(speed)) == page, "benches/emulate.py --write"
