"""The package as a library: its examples, its names, and its objects' copies and pickles."""

import copy
import doctest
import inspect
import pickle
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest

import airtcp
from airtcp.core.shipped import folder
from airtcp.pages.views import RENDERERS, renderer

MODULES = [
    "airtcp",
    "airtcp.core.catalogue",
    "airtcp.core.control",
    "airtcp.core.registered",
    "airtcp.papers.run_papers",
    "airtcp.comparison.study",
    "airtcp.comparison.sweep",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried > 0
    assert failed == 0


def test_every_name_is_there() -> None:
    for name in airtcp.__all__:
        assert getattr(airtcp, name) is not None
    assert set(airtcp.__all__) <= set(dir(airtcp))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = airtcp.nonsense


@pytest.mark.parametrize(
    "settings",
    [
        {"link": {"loss": {"rate": 0.01}}, "duration": timedelta(seconds=2)},
        {"link.loss": {"rate": 0.01}, "duration": "2 s"},
    ],
    ids=["nested", "half dotted"],
)
def test_settings_as_python_has_them(lossy_file: Path, settings: dict[str, object]) -> None:
    expected = airtcp.load_scenario(lossy_file, {"link.loss.rate": 0.01, "duration": "2 s"})
    assert airtcp.load_scenario(lossy_file, settings).hash() == expected.hash()


@pytest.mark.parametrize(("value", "words"), [(None, "None"), ({1, 2}, "a list or a table")])
def test_settings_that_are_none(lossy_file: Path, value: object, words: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match=words):
        airtcp.load_scenario(lossy_file, {"duration": value})


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range(lossy_file: Path, seed: int) -> None:
    with pytest.raises(airtcp.ScenarioError, match="from 0 to 2"):
        airtcp.run(lossy_file, seed)


def test_the_catalogue_is_a_table() -> None:
    frame = airtcp.remedies_frame()
    assert frame["name"].to_list() == [entry["name"] for entry in airtcp.remedies()]
    assert set(airtcp.probes()) >= {"cwnd", "srtt", "rto"}
    assert copy.copy(frame).height == frame.height
    assert pickle.loads(pickle.dumps(frame)).equals(frame)


def test_a_scenario_takes_its_recordings_along(tmp_path: Path) -> None:
    log = tmp_path / "my.ping"
    log.write_bytes((folder("recordings") / "cellular-slow.ping").read_bytes())
    settings = {"link.rtt_log.path": log, "duration": "5 s"}
    scenario = airtcp.load_scenario("ping", settings)
    packed = pickle.dumps(scenario)
    log.unlink()
    for other in (pickle.loads(packed), copy.copy(scenario), copy.deepcopy(scenario)):
        assert other == scenario
        assert hash(other) == hash(scenario)
        assert airtcp.run(other).summary == airtcp.run(scenario).summary
    # A scenario without a file still works without one.
    assert pickle.loads(pickle.dumps(pickle.loads(packed))) == scenario
    assert scenario != airtcp.load_scenario("ping", {"duration": "5 s"})


def test_runs_and_comparisons_can_be_sent_elsewhere(lossy_file: Path) -> None:
    run = airtcp.run(lossy_file, probes=["cwnd"])
    other = pickle.loads(pickle.dumps(run))
    assert other == run
    assert other.samples.equals(run.samples)
    assert other.events.equals(run.events)
    assert run != airtcp.run(lossy_file, seed=2)
    comparison = airtcp.compare(lossy_file, ["sack"], seeds=3)
    sent = pickle.loads(pickle.dumps(comparison))
    assert sent == comparison
    assert sent.verdict == comparison.verdict


def test_what_the_sender_believes_stands_apart_from_what_packets_take(lossy_file: Path) -> None:
    run = airtcp.run(lossy_file, rtts=True)
    (flow,) = run.summary["flows"]
    # Its first sample is the handshake: bare headers there and back on 10 Mbit/s, and 25 ms twice.
    assert flow["sender_min_rtt_ms"] == pytest.approx(50.0 + 2 * 60 * 8 / 10e3, rel=1e-6)
    assert flow["sender_min_rtt_ms"] < min(run.rtts["rtt_ms"])
    latency = run.summary["latency"]
    at = dict(zip(latency["percent"], latency["rtt_ms"], strict=True))
    # With one flow they are the flow's.
    assert [at[50], at[95], at[99]] == [flow[f"rtt_p{percent}_ms"] for percent in (50, 95, 99)]
    for kind in ("rtt_ms", "delay_ms", "delivery_ms"):
        assert latency[kind] == sorted(latency[kind])


def test_every_name_is_on_the_page_of_the_python_interface() -> None:
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    missing = [name for name in airtcp.__all__ if f"airtcp.{name}" not in page]
    assert missing == ["Parameter", "Remedy", "ShippedScenario", "__version__", "papers"]


ELSEWHERE = {
    "GridResult": "comparison.grid",
    "Ranking": "comparison.ranking",
    "Verification": "kernel.verify",
}
"""Results of public functions and properties that the package itself does not name."""


def test_every_view_is_of_a_public_result_and_takes_it_first() -> None:
    for name, views in RENDERERS.items():
        where = import_module(f"airtcp.{ELSEWHERE[name]}") if name in ELSEWHERE else airtcp
        of = getattr(where, name)
        assert of.__name__ == name
        for view in views:
            first = next(iter(inspect.get_annotations(renderer(of, view)).values()))
            assert getattr(first, "__name__", first) == name, view
    with pytest.raises(KeyError, match="no figure of a int"):
        renderer(int, "figure")
