"""The rates of scenarios/lte.toml and of its kin vary as recordings of these networks do."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "measurements" / "recordings.md"


def program(name: str) -> ModuleType:
    """A program in recordings/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "recordings" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cellular = program("cellular")
nr = program("nr")
geostationary = program("geostationary")


def row(name: str) -> list[str]:
    """The cells of the page's row of this name."""
    lines = PAGE.read_text("utf-8").splitlines()
    (line,) = [one for one in lines if one.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_the_rate_varies_as_in_recordings() -> None:
    ours = cellular.of_scenario("lte")
    recorded = list(cellular.RECORDED.values())
    assert 0.0 < ours.low < max(one.low for one in recorded)
    assert ours.median == pytest.approx(min(one.median for one in recorded), abs=0.1)
    highs = [one.high for one in recorded]
    assert min(highs) < ours.high < 1.1 * max(highs)
    means = [one.mean_mbps for one in recorded]
    assert min(means) < ours.mean_mbps < max(means)
    assert 0.56 < ours.deviation < 0.64
    memories = [one.memory for one in recorded]
    assert min(memories) < ours.memory < max(memories)
    shares = (ours.low, ours.median, ours.high, ours.deviation, ours.memory)
    assert row("scenario `lte`") == [
        f"{ours.mean_mbps:.1f}",
        *(f"{share:.2f}" for share in shares),
    ]


def test_without_shadowing_the_rate_varies_by_a_third_less() -> None:
    with_, without = (
        cellular.of_scenario("lte", {"cell.radio.shadowing_db": deviation}) for deviation in (6, 0)
    )
    assert without.deviation / with_.deviation == pytest.approx(2 / 3, abs=0.1)
    assert without.memory < min(one.memory for one in cellular.RECORDED.values())


def test_the_page_has_the_recordings_of_5g_and_its_scenario_is_among_them() -> None:
    for name, one in nr.RECORDED.items():
        assert row(name)[0] == f"{one.mean_mbps:.0f}"
        assert row(name)[6:] == [f"{time:.0f}" for time in one.rtt_ms]
    best = max(nr.RECORDED.values(), key=lambda one: one.mean_mbps)
    ours = row("scenario `nr`")
    assert best.mean_mbps < float(ours[0]) < 1.5 * best.mean_mbps
    others = [one.deviation for one in nr.RECORDED.values() if one is not best]
    assert best.deviation < float(ours[4]) < min(others)
    assert float(ours[8]) - float(ours[6]) == pytest.approx(best.rtt_ms[2] - best.rtt_ms[0], abs=4)
    assert best.rtt_ms[1] - float(ours[7]) == pytest.approx(40, abs=5)


def test_delays_and_losses_of_a_geostationary_satellite_are_the_operators() -> None:
    ours, recorded = geostationary.of_scenario("geo-satellite"), geostationary.RECORDED.values()
    rtts = [one.rtt_ms for one in recorded]
    assert min(rtts) <= ours.rtt_ms <= max(rtts)
    assert all(abs(ours.forward_ms[1] - one.forward_ms[1]) < 12 for one in recorded)
    assert ours.loss <= min(one.loss for one in recorded)
    assert min(one.down_mbps for one in recorded) < ours.down_mbps < 47
    queues = [one.full_queue_ms for one in recorded]
    assert min(queues) < ours.full_queue_ms < max(queues)
    assert row("scenario `geo-satellite`")[2] == f"{ours.rtt_ms:.0f}"


def test_a_traces_figures(tmp_path: Path) -> None:
    trace = tmp_path / "x.down"
    # 12 Mbit/s for half of each second, of every other one a quarter.
    trace.write_text(
        "".join(f"{ms}\n" for ms in range(10_000) if ms % 1000 < (250 if ms // 1000 % 2 else 500))
        + "10000\n"
    )
    found = cellular.of_trace(trace)
    assert found.mean_mbps == pytest.approx(4.5, rel=0.01)
    assert (found.low, found.high) == pytest.approx((0, 2.67), rel=0.01)
    assert found.deviation == pytest.approx(1 / 3, abs=0.01)
    assert found.memory == pytest.approx(-1, abs=0.01)


def test_a_logs_figures(tmp_path: Path) -> None:
    """Rows within two of a ping are left out, and those without a download."""
    rows = [f"D,{rate},-" for rate in [10_000] * 5] + ["D,0,70.5"] + ["D,20000,-"] * 6 + ["I,0,-"]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["State,DL_bitrate,PINGAVG", *rows]) + "\n")
    found = nr.of_log(log)
    assert found.mean_mbps == pytest.approx((3 * 10 + 4 * 20) / 7)
    assert found.rtt_ms == (70.5, 70.5, 70.5)
    assert found.outages == 0
