"""One run, from Python."""

from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp import _core


def test_same_seed_same_run_and_another_seed_another(lossy: str) -> None:
    first, again, other = (airtcp.run(lossy, seed=seed) for seed in (7, 7, 8))
    assert first.summary == again.summary
    assert first.summary["digest"] != other.summary["digest"]


def test_watching_changes_nothing(lossy: str, tmp_path: Path) -> None:
    plain = airtcp.run(lossy, events=False)
    watched = airtcp.run(
        lossy, probes=_core.probes(), pcap=tmp_path / "a.pcapng", qlog=tmp_path / "a.qlog"
    )
    assert watched.summary["digest"] == plain.summary["digest"]
    assert (tmp_path / "a.pcapng").stat().st_size > 0
    assert (tmp_path / "a.qlog").stat().st_size > 0


def test_any_number_of_threads_gives_the_same_digests(lossy: str) -> None:
    scenario = airtcp.load_scenario(lossy)
    cells = [(scenario, seed) for seed in range(1, 9)]
    by_threads = []
    for threads in (1, 2):
        results = _core.run_many(cells, threads)
        summaries = [airtcp.Run(scenario, result).summary for result in results]
        by_threads.append([(summary["seed"], summary["digest"]) for summary in summaries])
    assert by_threads[0] == by_threads[1]
    assert by_threads[0][0][1] == airtcp.run(lossy, seed=1).summary["digest"]


def test_summary_keeps_its_fields(lossy: str) -> None:
    # Scripts read these names: a change here is a change that users notice.
    summary = airtcp.run(lossy).summary
    assert summary.keys() == airtcp.core.summary.RunSummary.__annotations__.keys()
    (flow,) = summary["flows"]
    assert flow.keys() == airtcp.core.summary.FlowSummary.__annotations__.keys()
    assert {
        "goodput_bps",
        "delivered_bytes",
        "segments_sent",
        "segments_retransmitted",
        "timeouts",
        "timeouts_spurious",
        "fast_retransmits",
        "srtt_ms",
        "rto_ms",
    } <= flow.keys()


def test_goodput_is_the_arrived_bytes(lossy: str) -> None:
    probes = ["delivered_bytes", "arrived_bytes", "sent_bytes", "goodput"]
    run = airtcp.run(lossy, probes=probes)
    (flow,) = run.summary["flows"]
    assert run.summary["goodput_bps"] == pytest.approx(8 * flow["arrived_bytes"] / 10)
    assert run.samples["arrived_bytes"].is_sorted()
    assert run.samples["arrived_bytes"][-1] <= flow["arrived_bytes"]
    gaps = run.samples["arrived_bytes"] - run.samples["delivered_bytes"].cast(pl.Int64)
    assert gaps.min() == 0 < gaps.max()
    assert (run.samples["arrived_bytes"] <= run.samples["sent_bytes"]).all()
    # The probe's mean is the goodput.
    assert run.samples["goodput_bps"].mean() == pytest.approx(run.summary["goodput_bps"], rel=0.01)


def test_an_open_recovery_at_the_end_does_not_make_a_full_link_slow() -> None:
    settings = {"link.queue.packets": 2000, "link.rate": "5 Mbit/s", "link.loss.rate": 0}
    goodputs = [
        airtcp.run("lossy-pipe", settings={**settings, "duration": f"{end} s"}).summary
        for end in (20, 30, 40)
    ]
    rates = [summary["goodput_bps"] for summary in goodputs]
    assert max(rates) / min(rates) < 1.02
    # In order alone, the run of 30 s ends in a recovery.
    in_order = [
        8 * summary["flows"][0]["delivered_bytes"] / summary["duration_s"] for summary in goodputs
    ]
    assert max(in_order) / min(in_order) > 1.1


def test_samples_have_a_column_a_probe_with_its_unit(lossy: str) -> None:
    run = airtcp.run(lossy, probes=["cwnd", "rto"], probe_interval_s=0.1)
    assert run.samples.columns == ["time_s", "flow", "cwnd_bytes", "rto_ms"]
    assert 99 <= len(run.samples) <= 101
    assert run.samples["cwnd_bytes"].min() > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"link.loss.rate": 0.05, "tcp.profile": "newreno"},
        # Stops of a second: one segment's timer expires several times, each time needlessly.
        {"link.loss.rate": 0, "link.stops.every": "3 s", "link.stops.length": "1 s"},
    ],
    ids=["losses", "stops"],
)
def test_events_count_what_the_summary_counts(lossy: str, settings: dict[str, object]) -> None:
    run = airtcp.run(lossy, settings=settings)
    (flow,) = run.summary["flows"]
    assert flow["timeouts"] > 0
    counts = dict(run.events["event"].value_counts().iter_rows())
    assert counts.get("timeout", 0) == flow["timeouts"]
    assert counts.get("spurious-timeout", 0) == flow["timeouts_spurious"]
    assert counts.get("fast-retransmit", 0) == flow["fast_retransmits"]


def test_every_spurious_timeout_of_a_recorded_link_is_an_event() -> None:
    # Here one arrival can settle several expired timers of one segment at once.
    root = Path(__file__).parents[2]
    recording = {"link.rtt_log.path": str(root / "recordings" / "wifi-spikes.ping")}
    run = airtcp.run(root / "scenarios" / "ping.toml", settings=recording)
    spurious = run.events.filter(pl.col("event") == "spurious-timeout")
    assert len(spurious) == run.summary["flows"][0]["timeouts_spurious"] > 0


def test_settings_and_remedies_change_the_run(lossy: str) -> None:
    clean = airtcp.run(lossy, settings={"link.loss.rate": 0})
    assert clean.summary["goodput_bps"] > airtcp.run(lossy).summary["goodput_bps"]
    remedied = airtcp.run(lossy, remedies=["rto-factor:factor=10"])
    assert len(remedied.summary["remedies"]) == 1
    assert remedied.summary["remedies"][0].startswith("rto-factor:factor=10")


def test_a_canonical_scenario_is_the_scenario(lossy: str) -> None:
    scenario = airtcp.load_scenario(lossy, remedies=["rto-factor:factor=10"])
    again = airtcp.load_scenario(scenario.to_toml())
    assert again.to_toml() == scenario.to_toml()
    assert again.hash() == scenario.hash()
    assert airtcp.run(again).summary["digest"] == airtcp.run(scenario).summary["digest"]


def test_events_and_samples_are_empty_frames_unless_asked_for(lossy: str) -> None:
    run = airtcp.run(lossy, events=False)
    assert isinstance(run.samples, pl.DataFrame)
    assert run.samples.is_empty()
    assert run.events.is_empty()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"settings": {"link.loss.rate": 1.2}}, r"link\.loss\.rate = 1\.2: .*0 (and|to) 1"),
        ({"settings": {"link.rat": "1 Mbit/s"}}, r"link.*rat"),
        ({"settings": {"duration": 5}}, r"duration.*\"5 s\"|duration.*unit"),
        ({"remedies": ["sackk"]}, r"sackk.*did you mean"),
        ({"remedies": ["rto-factor:factor=banana"]}, "factor"),
        ({"probes": ["cwmd"]}, r"cwmd.*cwnd"),
        ({"probes": ["cwnd"], "probe_interval_s": 0.0}, "probe_interval_s"),
        ({"probes": ["cwnd"], "probe_interval_s": float("nan")}, "probe_interval_s"),
    ],
)
def test_bad_input_names_what_is_wrong(
    lossy: str, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(airtcp.ScenarioError, match=message):
        airtcp.run(lossy, **arguments)


def test_exceptions_are_also_the_built_in_ones() -> None:
    assert issubclass(airtcp.ScenarioError, (airtcp.AirtcpError, ValueError))
    assert issubclass(airtcp.ScenarioError, ValueError)
    assert issubclass(airtcp.RunError, RuntimeError)
    assert issubclass(airtcp.RunError, airtcp.AirtcpError)


def test_a_capture_that_cannot_be_written_is_an_error_of_the_run(lossy: str) -> None:
    with pytest.raises(airtcp.RunError, match="/no/such/folder"):
        airtcp.run(lossy, pcap="/no/such/folder/a.pcapng")


def test_a_scenario_takes_no_settings_afterwards(lossy: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match="already complete"):
        airtcp.run(airtcp.load_scenario(lossy), settings={"duration": "1 s"})


def test_progress_never_goes_back_and_may_stop_the_run(lossy: str) -> None:
    shares: list[float] = []
    airtcp.run(lossy, settings={"duration": "10 min"}, progress=shares.append)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)

    class EnoughError(Exception):
        pass

    def stop(share: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        airtcp.run(lossy, settings={"duration": "10 h"}, progress=stop)


def test_figure_and_notebook_view(lossy: str) -> None:
    run = airtcp.run(lossy, probes=airtcp.TIMELINE_PROBES)
    labels = [axes.get_ylabel() for axes in run.plot().axes]
    assert labels == ["", "cwnd (kB)", "SRTT, RTO (ms)", "goodput (Mbit/s)"]
    assert "lossy" in run._repr_html_()
    with pytest.raises(ValueError, match="give probes="):
        airtcp.run(lossy).plot()
    with pytest.raises(ValueError, match="no flow 3"):
        run.plot(flow=3)


def test_catalogue_and_schema() -> None:
    names = [remedy["name"] for remedy in airtcp.remedies()]
    assert len(names) == len(set(names))
    assert {"rto-factor", "go-back-n", "sack", "newreno"} <= set(names)
    for remedy in airtcp.remedies():
        assert remedy.keys() == airtcp.Remedy.__annotations__.keys()
        for parameter in remedy["parameters"]:
            assert parameter.keys() == airtcp.Parameter.__annotations__.keys()
    assert "link" in airtcp.schema()["properties"]


def test_a_run_is_given_back_as_a_scenario(lossy: str, tmp_path: Path) -> None:
    settings = {"link.stops.working": "1 s", "link.stops.length": "100 ms"}
    first = airtcp.run(lossy, 4, settings, replay=tmp_path / "link")
    again = airtcp.run(tmp_path / "link" / "scenario.toml", 4)
    assert again.summary["flows"] == first.summary["flows"]
    assert first.summary["flows"][0]["segments_lost_link"] > 3
    # Another seed draws no other losses.
    lost = pl.read_csv(tmp_path / "link" / "lost.csv")
    other = airtcp.run(tmp_path / "link" / "scenario.toml", 5, replay=tmp_path / "other")
    assert other.summary["flows"][0]["segments_lost_link"] > 0
    met = pl.read_csv(tmp_path / "other" / "lost.csv")
    assert met.join(lost, on=["flow", "packet"], how="anti").is_empty()


def test_what_a_medium_loses_is_not_given_back(tmp_path: Path) -> None:
    with pytest.raises(airtcp.ScenarioError, match="only the losses and stops of a"):
        airtcp.run("topology = 'wlan'\n", replay=tmp_path / "link")
    assert not (tmp_path / "link").exists()
