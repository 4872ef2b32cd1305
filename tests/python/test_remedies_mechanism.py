"""Every remedy shows the mechanism in its name.

The mechanism of each remedy is counted in a run, on every profile that it combines
with; on the others it is refused, with the reason.
"""

from collections.abc import Callable
from functools import cache

import polars as pl
import pytest

from airtcp import _core
from airtcp._core import AirtcpError, Scenario
from airtcp.comparison.ranking.deployable import ADVICE
from airtcp.core.catalogue import remedies
from remedy_counters import MSS, Counters

PROFILES = [name for name, _ in _core.profiles()]

PIPE = 'topology = "pipe"\n'
WLAN = 'topology = "wlan"\nduration = "2 s"\nflows = { count = 3, direction = "down" }\n'
LINKS = {
    "deep": PIPE
    + 'duration = "8 s"\nlink = { rate = "5 Mbit/s", delay = "20 ms", queue = { packets = 300 } }',
    # A queue of one bandwidth-delay product, so that losses are caused by the sender.
    "shallow": PIPE
    + 'duration = "12 s"\nlink = { rate = "8 Mbit/s", delay = "20 ms", queue = { packets = 20 } }',
    # The same for a window of twenty segments, the most that ns-2's profile has.
    "tight": PIPE
    + 'duration = "20 s"\nlink = { rate = "1 Mbit/s", delay = "20 ms", queue = { packets = 8 } }',
    "thin": PIPE
    + 'duration = "10 s"\nlink.rate = "600 kbit/s"\nlink.delay = "20 ms"\n'
    + "link.queue.packets = 100",
    # A threshold of 15 ms marks in place of dropping (RFC 8257 §2).
    "marks": PIPE
    + 'duration = "12 s"\nlink.rate = "2 Mbit/s"\nlink.delay = "20 ms"\n'
    + "link.queue.packets = 100\n"
    + 'link.aqm = { discipline = "codel", target = "15 ms", ecn = true }',
    # No window fills it, nothing is lost: acknowledgments are the receiver's choice.
    "clean": PIPE
    + 'duration = "4 s"\nlink.rate = "20 Mbit/s"\nlink.delay = "10 ms"\n'
    + "link.queue.packets = 5000",
    "lossy": PIPE
    + 'duration = "20 s"\n'
    + 'link = { rate = "8 Mbit/s", delay = "30 ms", loss = { rate = 0.03, direction = "both" } }',
    "stops": PIPE
    + 'duration = "15 s"\n'
    + 'link.rate = "8 Mbit/s"\nlink.delay = "20 ms"\n'
    + 'link.stops = { every = "3 s", length = "1 s" }',
    "stops-selective": PIPE
    + 'duration = "15 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "20 ms"\n'
    + 'link.stops = { every = "3 s", length = "1 s" }\n'
    + 'tcp.retransmission = "selective-repeat"',
    # A delay spike is no loss: held packets arrive late, and every timeout is spurious.
    "held": PIPE
    + 'duration = "20 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "20 ms"\n'
    + 'link.stops = { process = "periodic", every = "3 s", length = "900 ms", packets = "held" }',
    # Late packets are overtaken: duplicate acknowledgments without loss.
    "reorders": PIPE
    + 'duration = "12 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "20 ms"\n'
    + 'link.late = { share = 0.02, by = "12 ms" }',
    "slow-acks": PIPE
    + 'duration = "8 s"\nlink.rate = "20 Mbit/s"\nlink.delay = "20 ms"\n'
    + 'link.reverse = { rate = "100 kbit/s" }',
    # A full segment and a short one a message: Nagle holds the short one back for a round trip.
    "messages": PIPE
    + 'duration = "20 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "20 ms"\ntcp.nagle = true\n'
    + 'traffic = { application = "email", email = { size = "3700 B", interval = "500 ms" } }',
    # Downloads one after another between the same hosts.
    "requests": PIPE
    + 'duration = "12 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "100 ms"\n'
    + 'flows = { count = 5, start_spread = "10 s", request = "300 B", bytes = "5 kB" }',
    "fast": PIPE
    + 'duration = "4 s"\nlink.rate = "40 Mbit/s"\nlink.delay = "20 ms"\nlink.queue.packets = 300',
    "narrow": PIPE
    + 'duration = "12 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "40 ms"\n'
    + "link.queue.packets = 100\ntcp.send_buffer = 30000",
    "closed": PIPE
    + 'duration = "12 s"\nlink.rate = "8 Mbit/s"\nlink.delay = "40 ms"\n'
    + "link.queue.packets = 100\ntcp.receive_buffer = 30000",
    "wlan": WLAN + 'wlan = { standard = "802.11n", scheduler = "fifo", station_mcs = [7, 7, 0] }',
    "wlan-airtime": WLAN + 'wlan = { standard = "802.11n", scheduler = "airtime" }',
    "upload": WLAN.replace("down", "up")
    + 'wlan = { standard = "802.11b", loss = { rate = 0.3 }, retry_limit = 2 }',
    "upload-n": WLAN.replace("down", "up").replace("3,", "1,") + 'wlan = { standard = "802.11n" }',
    "download-b": WLAN + 'wlan = { standard = "802.11b", loss = { rate = 0.3 }, retry_limit = 2 }',
    "arq": 'topology = "arq"\nduration = "20 s"\narq.loss = { rate = 0.3 }\nflows.count = 3',
    "repeat": 'topology = "selective-repeat"\nduration = "10 s"\nflows.direction = "up"\n'
    + 'selective_repeat = { rate = "10 Mbit/s", retry_timeout = "20 ms", loss = { rate = 0.1 }, '
    + 'order = "reorder", retry_limit = 8 }\nwired.delay = "20 ms"',
    "repeat-slow": 'topology = "selective-repeat"\nduration = "10 s"\nflows.direction = "up"\n'
    + 'selective_repeat = { rate = "10 Mbit/s", retry_timeout = "150 ms", loss = { rate = 0.1 }, '
    + 'order = "reorder", retry_limit = 8 }\nwired.delay = "20 ms"',
}

Holds = Callable[[Counters, Counters], bool]
"""Whether a run with the remedy (the second) shows its mechanism, unlike one without it."""


def more(counter: str) -> Holds:
    return lambda before, after: after.total(counter) > before.total(counter)


def less(counter: str) -> Holds:
    return lambda before, after: after.total(counter) < before.total(counter)


def other(counter: str) -> Holds:
    return lambda before, after: after.total(counter) != before.total(counter)


def some(counter: str) -> Holds:
    return lambda _, after: after.total(counter) > 0


def another_window(before: Counters, after: Counters) -> bool:
    return before.window != after.window


def other_kinds(before: Counters, after: Counters) -> bool:
    return before.kinds != after.kinds


def sooner(before: Counters, after: Counters) -> bool:
    mean = [run.summary["flows"][0]["transfer_mean_s"] for run in (before, after)]
    return mean[1] < 0.99 * mean[0]


def one_round_trip_less(before: Counters, after: Counters) -> bool:
    """Whether all flows but the first, which has no cookie, complete 200 ms earlier."""

    def times(run: Counters) -> list[float]:
        flows = run.summary["flows"]
        return [flow["completed_s"] - flow["started_s"] for flow in flows]

    gains = [old - new for old, new in zip(times(before), times(after), strict=True)]
    return abs(gains[0]) < 0.01 and all(abs(gain - 0.2) < 0.01 for gain in gains[1:])


def taken_back(before: Counters, after: Counters) -> bool:
    return after.total("recoveries_taken_back") > before.total("recoveries_taken_back")


def rto(least: Callable[[float, float], bool]) -> Holds:
    def mean(run: Counters) -> float:
        known = run.samples.filter(pl.col("srtt_ms").is_not_null())
        return float(known["rto_ms"].mean() or 0)

    return lambda before, after: least(mean(before), mean(after))


def srtt(holds: Callable[[float, float], bool]) -> Holds:
    def mean(run: Counters) -> float:
        return float(run.samples["srtt_ms"].drop_nulls().mean() or 0)

    return lambda before, after: holds(mean(before), mean(after))


def round_trips(run: Counters) -> int:
    """How often the smoothed round trip has changed."""
    return run.samples["srtt_ms"].drop_nulls().n_unique()


def smaller_queue(before: Counters, after: Counters) -> bool:
    return after.queue < before.queue


def copas_queue(before: Counters, after: Counters) -> bool:
    """Whether at rest the queue stays within the 2.5/delta segments of Arun & Balakrishnan §3."""

    def most(run: Counters) -> float:
        rest = run.samples.filter(pl.col("time_s") > run.samples["time_s"].max() / 2)
        return float(rest["queue_packets"].max())

    return most(after) <= 2.5 / 0.5 < most(before)


def rare_acks(segments: float) -> Holds:
    return lambda _, after: after.segments_an_ack > segments


def slow_station(run: Counters) -> float:
    """Airtime of the slowest of three stations, as a share."""
    last = run.samples.group_by("flow").agg(pl.col("airtime_s").max()).sort("flow")
    times = last["airtime_s"].to_list()
    return float(times[-1] / sum(times))


def longest_frame(run: Counters) -> float:
    data = run.frames.filter(pl.col("frame") == "data")
    return float((data["end_s"] - data["start_s"]).max() or 0)


def in_row(run: Counters) -> int:
    """Frames with data that follow the one before after 16 µs, without a contention."""
    data = run.frames.sort("start_s")
    gap = pl.col("start_s") - pl.col("end_s").shift(1)
    is_next = (pl.col("frame") == "data") & (gap < 20e-6)
    return data.filter(is_next).height


def wire_bytes(run: Counters) -> float:
    return float(run.data["bytes"].max() or 0)


CLASSIFIER = ("lossy", some("loss_events_judged"))

MECHANISMS: dict[str, list[tuple[str, str, Holds]]] = {
    "rto-factor": [("held", "rto-factor:factor=10", rto(lambda b, a: a > b))],
    "min-rto": [("deep", "min-rto:min=2 s", rto(lambda b, a: a > max(b, 1900)))],
    "linux-rto": [("held", "linux-rto", rto(lambda b, a: a != b))],
    "rtt-sampling": [
        ("deep", f"rtt-sampling:every={every}", lambda b, a: round_trips(a) != round_trips(b))
        for every in (0, 1)
    ],
    "rto-deviation": [("held", "rto-deviation", rto(lambda b, a: a < b))],
    "eifel": [
        ("held", "eifel", taken_back),
        ("held", "eifel", rto(lambda b, a: a != b)),
        # A model keeps its window: the timer of a link that repairs slowly remains.
        ("repeat-slow", "eifel", other_kinds),
    ],
    "f-rto": [("held", "f-rto", taken_back), ("stops", "f-rto", other_kinds)],
    "dsack-undo": [("reorders", "dsack-undo", taken_back)],
    "go-back-n": [("stops-selective", "go-back-n", other_kinds)],
    "selective-repeat": [("stops", "selective-repeat", other_kinds)],
    "tahoe": [(link, "tahoe", other_kinds) for link in ("shallow", "tight", "lossy")],
    "reno": [(link, "reno", other_kinds) for link in ("shallow", "tight")],
    "newreno": [("shallow", "newreno", other_kinds)],
    "sack": [("lossy", "sack", lambda _, a: a.acks["sack"].drop_nulls().len() > 0)],
    "rack-tlp": [("lossy", "rack-tlp", other_kinds)],
    "fack": [("reorders", "fack", other_kinds), ("lossy", "fack", other_kinds)],
    "prr": [("lossy", "prr", another_window)],
    "rate-halving": [("lossy", "rate-halving", another_window)],
    **{
        name: [(CLASSIFIER[0], name, CLASSIFIER[1])]
        for name in (
            "newzag",
            "zigzag",
            "spike",
            "mbiaz",
            "zbs",
            "veno-classifier",
            "oracle",
            "coin",
        )
    },
    **{
        name: [(link, name, another_window) for link in ("shallow", "tight")]
        for name in (
            "cubic",
            "westwood",
            "veno",
            "vegas",
            "illinois",
            "hybla",
            "htcp",
            "yeah",
            "cdg",
            "c2tcp",
            "jersey",
            "bbr",
            "bbr-v3",
            "prague",
            "ledbat",
        )
    },
    "dctcp": [("marks", "dctcp", another_window)],
    # The timeout has no floor of 200 ms, and losses are found otherwise.
    "quic-recovery": [
        (
            "lossy",
            "quic-recovery",
            lambda b, a: rto(lambda x, y: y < x)(b, a) and b.kinds != a.kinds,
        )
    ],
    "copa": [("deep", "copa", copas_queue), ("thin", "copa:competes=0", copas_queue)],
    "vivace": [
        ("lossy", "vivace", lambda b, a: a.total("goodput_bps") > 2 * b.total("goodput_bps")),
        ("deep", "vivace", smaller_queue),
        ("fast", "vivace", smaller_queue),
    ],
    "proteus-p": [("deep", "proteus-p", smaller_queue), ("thin", "proteus-p", smaller_queue)],
    "proteus-s": [("deep", "proteus-s", smaller_queue), ("thin", "proteus-s", smaller_queue)],
    "verus": [
        ("deep", "verus:r=2", smaller_queue),
        # BBR's queue is as short, but its window does not follow the delay.
        ("deep", "verus", another_window),
    ],
    **{
        name: [(link, name, smaller_queue) for link in ("deep", "thin")]
        for name in ("sprout", "sprout-ewma")
    },
    "abc": [(link, "abc", smaller_queue) for link in ("deep", "thin")],
    "hystart": [(link, "hystart", another_window) for link in ("deep", "thin")],
    "hystart-plus-plus": [(link, "hystart-plus-plus", another_window) for link in ("deep", "thin")],
    "pacing": [("fast", "pacing", lambda b, a: a.clocked < b.clocked)],
    "small-queue": [(link, "small-queue", smaller_queue) for link in ("upload-n", "upload")],
    "wsc": [("repeat", "wsc", srtt(lambda b, a: a != b))],
    "wsc-corrected-rtt": [("repeat", "wsc-corrected-rtt", srtt(lambda b, a: a < b))],
    "wsc-dynamic-dupack": [
        (link, f"wsc-dynamic-dupack:capped={capped}", another_window)
        for capped in (0, 1)
        for link in ("repeat", "repeat-slow")
    ],
    "wsc-best-start": [("fast", "wsc-best-start", lambda b, a: a.first_flight != b.first_flight)],
    "wsc-rtt-clusters": [("held", "wsc-rtt-clusters", srtt(lambda b, a: a != b))],
    "dupack-threshold": [
        (link, "dupack-threshold:segments=12", other_kinds) for link in ("reorders", "lossy")
    ],
    "limited-transmit": [("lossy", f"limited-transmit:on={on}", another_window) for on in (0, 1)],
    "initial-window": [
        ("fast", "initial-window:segments=20", lambda _, a: a.first_flight == 20),
        ("fast", "initial-window:segments=4", lambda _, a: a.first_flight == 4),
    ],
    "max-window": [("deep", "max-window:segments=8", lambda _, a: a.in_flight <= 8 * MSS)],
    "send-buffer": [
        ("deep", "send-buffer:bytes=14480", lambda _, a: a.in_flight <= 14480 + MSS),
        ("narrow", "send-buffer:bytes=160000", lambda b, a: a.in_flight > 1.5 * b.in_flight),
    ],
    "timestamps": [
        (link, f"timestamps:on={on}", rto(lambda b, a: a != b))
        for on in (0, 1)
        for link in ("lossy", "deep")
    ],
    "fast-open": [("requests", "fast-open", one_round_trip_less)],
    "nodelay": [("messages", "nodelay", sooner)],
    "delayed-ack": [("clean", "delayed-ack:segments=16", rare_acks(12))],
    "ack-rate": [("clean", "ack-rate:segments=16,after=0", rare_acks(12))],
    "dsack": [
        (
            "reorders",
            f"dsack:on={on}",
            lambda b, a: a.acks["sack"].to_list() != b.acks["sack"].to_list(),
        )
        for on in (0, 1)
    ],
    "receive-window": [
        ("deep", "receive-window:bytes=14480", lambda _, a: a.in_flight <= 14480 + MSS)
    ],
    "receive-buffer": [
        ("deep", "receive-buffer:bytes=14480", lambda _, a: a.in_flight <= 14480 + MSS),
        ("closed", "receive-buffer:bytes=160000", lambda b, a: a.in_flight > 1.5 * b.in_flight),
    ],
    "tack": [
        ("clean", "tack", rare_acks(6)),
        ("clean", "tack", lambda b, a: a.segments_an_ack > 1.5 * b.segments_an_ack),
    ],
    "freeze-tcp": [("stops", "freeze-tcp", less("timeouts"))],
    "hand-off-acks": [("stops", "hand-off-acks", lambda b, a: len(a.acks) != len(b.acks))],
    "mss-clamp": [("clean", "mss-clamp:bytes=1000", more("segments_sent"))],
    "queue": [("deep", "queue:packets=10", lambda _, a: a.samples["queue_packets"].max() <= 11)],
    "codel": [(link, "codel", smaller_queue) for link in ("deep", "thin")],
    "fq-codel": [(link, "fq-codel", smaller_queue) for link in ("deep", "thin")],
    "pie": [(link, "pie", smaller_queue) for link in ("deep", "thin")],
    "dualpi2": [(link, "dualpi2", smaller_queue) for link in ("deep", "thin")],
    "cake": [(link, "cake", smaller_queue) for link in ("deep", "thin")],
    "autorate": [(link, "autorate", other("delay_p95_ms")) for link in ("deep", "thin")],
    "ack-filter": [("slow-acks", "ack-filter", lambda b, a: a.segments_an_ack > b.segments_an_ack)],
    "fec": [(link, "fec", less("segments_lost_link")) for link in ("lossy", "tight")],
    "inf-retry": [
        ("upload", "inf-retry", less("segments_lost_link")),
        ("download-b", "inf-retry:access-point=1", less("segments_lost_link")),
        ("upload", "inf-retry:station=2", less("segments_lost_link")),
    ],
    "delay-injection": [
        ("upload", "delay-injection", lambda _, a: a.agents > 0),
        ("download-b", "delay-injection:downlink=1", lambda _, a: a.agents > 0),
    ],
    **{
        name: [("upload", f"{name}:{time}=300 ms,every=5", srtt(lambda b, a: a > b))]
        for name, time in (("static-delay", "delay"), ("random-delay", "mean"))
    },
    "dynamic-arq": [
        ("arq", "dynamic-arq", more("attempts_on_air")),
        ("arq", "dynamic-arq", other_kinds),
    ],
    "deliberate-drop": [
        ("download-b", "deliberate-drop", lambda _, a: a.agents > 0),
        ("held", "deliberate-drop", more("fast_retransmits")),
    ],
    "snoop": [("download-b", "snoop", lambda _, a: a.agents > 0)],
    "wtcp": [("download-b", "wtcp", lambda _, a: a.agents > 0)],
    "ebsn": [("arq", "ebsn", lambda _, a: a.agents > 0)],
    "station-queues": [("wlan", "station-queues", lambda b, a: slow_station(a) != slow_station(b))],
    "airtime-fairness": [
        ("wlan", "airtime-fairness", lambda b, a: slow_station(a) < slow_station(b)),
        # Windows of twenty segments leave little to be shared.
        ("wlan", "airtime-fairness", lambda b, a: slow_station(a) != slow_station(b)),
    ],
    "aql": [("wlan-airtime", "aql:limit=500 us", lambda b, a: longest_frame(a) < longest_frame(b))],
    "ampdu-limit": [
        ("wlan", "ampdu-limit:time=1 ms", lambda b, a: longest_frame(a) < longest_frame(b))
    ],
    "txop": [("wlan", "txop", lambda b, a: in_row(a) > in_row(b))],
    "split-tcp": [("download-b", "split-tcp", some("proxy_segments_sent"))],
}


@cache
def _scenario(link: str, profile: str) -> Scenario:
    text = LINKS[link]
    key = f'tcp.profile = "{profile}"'
    return Scenario.parse(f"{key}\n{text}\n", link)


@cache
def _without(link: str, profile: str) -> Counters:
    return Counters(_scenario(link, profile))


def _with(link: str, profile: str, remedy: str) -> Scenario | None:
    """The link with a remedy; None where it is refused, or the sender does so already."""
    try:
        changed = _scenario(link, profile).with_remedies(remedy)
    except AirtcpError as error:
        if "would change nothing here: " not in str(error):
            raise
        return None
    return None if changed.already_so else changed


def test_every_remedy_has_a_mechanism() -> None:
    """No model here swallows long packets, the purpose of `mtu-probing`: it is advice."""
    simulated = {entry["name"] for entry in remedies()} - {"mtu-probing"}
    assert "mtu-probing" in ADVICE
    assert set(MECHANISMS) == simulated


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_remedy_does_what_its_name_says(name: str) -> None:
    acts, idle, silent = [], [], []
    for profile in PROFILES:
        shown = refused = False
        for link, remedy, holds in MECHANISMS[name]:
            changed = _with(link, profile, remedy)
            if changed is None:
                refused = True
            elif holds(_without(link, profile), Counters(changed)):
                shown = True
                break
        (acts if shown else idle if refused else silent).append(profile)
    assert not silent, f"{name} does nothing with {silent}, and is not refused"
    assert acts, f"{name} does nothing anywhere: refused with {idle}"
