"""The corpus: which links and senders are captured, and which half is looked at only at the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field

SECONDS = 12
"""The time for which a sender has something to send, where its case needs no longer one."""
SHORT = 8
"""The same for fast links."""
LONG = 24
"""The same for stops, steps of the rate or the path, and long queues."""

CONTROLS = ("reno", "cubic", "bbr")


@dataclass(frozen=True)
class Sender:
    """The application and the stacks at both ends."""

    control: str = "cubic"
    sack: bool = True
    timestamps: bool = True
    rate_bps: int = 0
    """Bits a second that the application writes; 0 for as much as the socket takes."""
    burst_bytes: int = 0
    """Bytes that the application writes at once every `pause_s`; 0 for no bursts."""
    pause_s: float = 0.0
    receive_buffer: int = 0
    """SO_RCVBUF of the receiver; 0 for the kernel's autotuning."""
    read_bps: int = 0
    """Bits a second that the receiver reads; 0 for as much as there is."""
    ecn: bool = False
    """Both ends ask for explicit congestion notification (RFC 3168)."""
    flows: int = 1
    """Connections that send at once; the first has a second's start."""
    send_buffer: int = 0
    """SO_SNDBUF of the sender; 0 for the kernel's autotuning."""
    pacing_bps: int = 0
    """SO_MAX_PACING_RATE of the sender, in bits a second; 0 leaves it unset."""
    writes: tuple[int, ...] = ()
    """Bytes of the writes of a message; its answer is awaited before the next. Empty for none."""
    is_two_way: bool = False
    """Another connection carries as much the other way."""
    nodelay: bool = False
    """The sender sets TCP_NODELAY."""
    mtu_probing: bool = False
    """The sender has net.ipv4.tcp_mtu_probing = 1."""
    longest: int = 0
    """Longer packets of IP never reach the receiver's TCP; 0 for any length."""
    clamp: int = 0
    """TCP_MAXSEG of the receiver; 0 for the device's."""
    gone_after_s: float = 0.0
    """From then on nothing reaches the receiver's TCP; 0 for never."""


@dataclass(frozen=True)
class Case:
    """A capture: a link as settings of a scenario, and who sends over it."""

    kind: str
    """The ailment of the link; cases of a kind alternate between the halves."""
    name: str
    settings: dict[str, str]
    sender: Sender = field(default_factory=Sender)
    download: bool = False
    """Data flows to the station: the capture at the server is the sender's."""
    is_hidden: bool = False
    """The capture contains only one of the flows."""
    file: str = ""
    """What is done to the capture before it is read: `offload` joins what left together, as
    segmentation offload hands it over, `unordered` writes some packets late; empty for neither."""
    seconds: int = SECONDS


def cases() -> list[Case]:
    """Every case, in the order in which it is recorded."""
    return [
        *_random_losses(),
        *_bursts(),
        *_tail_drops(),
        *_stops(),
        *_varying_rates(),
        *_jitter(),
        *_limited(),
        *_options(),
        *_radios(),
        *_policers(),
        *_managed(),
        *_shared(),
        *_files(),
        *_rate_steps(),
        *_long_queues(),
        *_aggregating(),
        *_bounded(),
        *_paced(),
        *_small_writes(),
        *_two_ways(),
        *_changing_paths(),
        *_holes(),
        *_windows(),
        *_scans(),
        *_contention(),
        *_peers_gone(),
    ]


def halves() -> tuple[list[Case], list[Case]]:
    """The development half and the half that is kept aside.

    The cases of each kind alternate, so that both halves hold every kind.
    """
    seen: dict[str, int] = {}
    halves: tuple[list[Case], list[Case]] = ([], [])
    for case in cases():
        place = seen.get(case.kind, 0)
        seen[case.kind] = place + 1
        halves[place % 2].append(case)
    return halves


def _pipe(
    rate: str = "10 Mbit/s", delay: str = "25 ms", packets: int = 100, **more: str
) -> dict[str, str]:
    settings = {"link.rate": rate, "link.delay": delay, "link.queue.packets": str(packets)}
    return settings | {f"link.{key.replace('__', '.')}": value for key, value in more.items()}


def _pairs(kind: str, name: str, link: dict[str, str], *controls: str) -> Iterator[Case]:
    """A link with several congestion controls."""
    for control in controls:
        yield Case(kind, f"{name} {control}", link, Sender(control))


def _random_losses() -> Iterator[Case]:
    yield from _pairs("iid", "iid half a percent", _pipe(loss__rate="0.005"), "reno")
    yield from _pairs("iid", "iid one percent", _pipe(loss__rate="0.01"), "cubic")
    yield from _pairs("iid", "iid two percent", _pipe(loss__rate="0.02"), "cubic", "bbr")
    slow = _pipe("4 Mbit/s", "60 ms", 200, loss__rate="0.003")
    short = _pipe("20 Mbit/s", "5 ms", 80, loss__rate="0.01")
    yield from _pairs("iid elsewhere", "iid slow", slow, "cubic")
    yield from _pairs("iid elsewhere", "iid short", short, "reno")


def _bursts() -> Iterator[Case]:
    short = _pipe(
        loss__model="gilbert-elliott",
        loss__good_to_bad="0.002",
        loss__bad_to_good="0.25",
        loss__loss_in_bad="0.6",
    )
    long = _pipe(
        loss__model="gilbert-elliott",
        loss__good_to_bad="0.001",
        loss__bad_to_good="0.1",
        loss__loss_in_bad="0.5",
    )
    yield from _pairs("bursts", "bursts short", short, "reno")
    yield from _pairs("bursts", "bursts long", long, "cubic")


def _tail_drops() -> Iterator[Case]:
    yield from _pairs("tail drop", "queue 20", _pipe(packets=20), "reno", "bbr")
    yield from _pairs("tail drop", "queue 50", _pipe(packets=50), "cubic")
    yield from _pairs("tail drop", "queue 300", _pipe(packets=300), "cubic")
    mixed = _pipe(packets=50, loss__rate="0.0005")
    yield from _pairs("both losses", "queue 50 and losses", mixed, "cubic", "reno")


def _stops() -> Iterator[Case]:
    for every, length, control in (("5 s", "1 s", "cubic"), ("3 s", "300 ms", "reno")):
        link = _pipe(stops__process="periodic", stops__every=every, stops__length=length)
        name = f"periodic stops {length} {control}"
        yield Case("periodic stops", name, link, Sender(control), seconds=LONG)
    for packets, control in (("wait", "cubic"), ("held", "bbr")):
        link = _pipe(
            stops__process="random",
            stops__working="3 s",
            stops__length="400 ms",
            stops__packets=packets,
        )
        name = f"random stops {packets} {control}"
        yield Case("random stops", name, link, Sender(control), seconds=LONG)
    lossy = _pipe(
        stops__process="random",
        stops__working="4 s",
        stops__length="500 ms",
        loss__rate="0.003",
    )
    for control in ("cubic", "bbr"):
        name = f"stops and losses {control}"
        yield Case("stops and losses", name, lossy, Sender(control), seconds=LONG)


def _varying_rates() -> Iterator[Case]:
    steps = {"link.trace.up": "steps.opportunities", "link.trace.data": "up", "link.delay": "25 ms"}
    steps |= {"link.queue.packets": "100"}
    for control in ("cubic", "bbr"):
        name = f"rate in steps {control}"
        yield Case("varying rate", name, steps, Sender(control), seconds=LONG)


def _jitter() -> Iterator[Case]:
    for mean, order in (("5 ms", "in-order"), ("3 ms", "reorder")):
        link = _pipe(jitter__mean=mean, jitter__shape="exponential", jitter__order=order)
        name = f"jitter {mean} {order}"
        yield Case("jitter", name, link | {"link.loss.rate": "0.003"})
    # Nothing is lost: whatever is called a loss is not one.
    for mean, order in (("8 ms", "in-order"), ("3 ms", "reorder")):
        link = _pipe("8 Mbit/s", "20 ms", jitter__mean=mean, jitter__shape="exponential")
        name = f"jitter alone {mean} {order}"
        yield Case("jitter alone", name, link | {"link.jitter.order": order})
    for by in ("15 ms", "60 ms"):
        link = _pipe(late__share="0.005", late__by=by)
        yield Case("reordering", f"late by {by}", link | {"link.loss.rate": "0.002"})
    # Later than the round trip: the receiver refuses segments with too old a timestamp.
    link = _pipe(late__share="0.004", late__by="150 ms")
    yield from _pairs("old timestamps", "late by 150 ms", link, "cubic", "bbr")


def _limited() -> Iterator[Case]:
    lossy = _pipe(loss__rate="0.005")
    slow = Sender("cubic", rate_bps=3_000_000)
    yield Case("application", "application 3 Mbit/s cubic", lossy, slow)
    bursts = Sender("reno", burst_bytes=120_000, pause_s=0.4)
    yield Case("application", "application bursts reno", lossy, bursts)
    small = Sender("cubic", receive_buffer=32_768)
    yield Case("receiver", "receive buffer and losses", lossy, small)
    reader = Sender("cubic", read_bps=4_000_000)
    yield Case("receiver", "slow reader", _pipe(), reader)


def _options() -> Iterator[Case]:
    lossy = _pipe(loss__rate="0.01")
    stopping = _pipe(stops__process="periodic", stops__every="5 s", stops__length="600 ms")
    no_clock, no_sack = Sender(timestamps=False), Sender(sack=False)
    yield Case("no timestamps", "no timestamps losses cubic", lossy, no_clock)
    yield Case("no timestamps", "no timestamps stops cubic", stopping, no_clock, seconds=LONG)
    yield Case("no sack", "no sack losses cubic", lossy, no_sack)
    yield Case("no sack", "no sack losses reno", lossy, Sender("reno", sack=False))
    neither = Sender("cubic", sack=False, timestamps=False)
    yield Case("no options", "no options losses", lossy, neither)
    yield Case("no options", "no options stops", stopping, neither, seconds=LONG)


def _radios() -> Iterator[Case]:
    wlan = {
        "topology": "wlan",
        "wlan.retry_limit": "4",
        "wlan.queue.packets": "50",
        "wired.rate": "100 Mbit/s",
        "wired.delay": "15 ms",
    }
    bursts = {
        "wlan.loss.model": "gilbert-elliott",
        "wlan.loss.good_to_bad": "0.01",
        "wlan.loss.bad_to_good": "0.1",
        "wlan.loss.loss_in_bad": "0.9",
    }
    up = wlan | bursts | {"flows.direction": "up"}
    down = wlan | bursts | {"flows.direction": "down"}
    yield Case("802.11", "802.11b upload bursts", up)
    yield Case("802.11", "802.11b download bursts", down, download=True)
    arq = {
        "topology": "arq",
        "arq.queue.bytes": "64 kB",
        "arq.loss.model": "gilbert-elliott",
        "arq.loss.good_to_bad": "0.005",
        "arq.loss.bad_to_good": "0.1",
        "arq.loss.loss_in_bad": "0.8",
        "wired.delay": "20 ms",
    }
    for control in ("cubic", "reno"):
        yield Case("arq", f"arq download {control}", arq, Sender(control), download=True)


def _policers() -> Iterator[Case]:
    for rate, burst, delay, control in (
        ("5 Mbit/s", "60 kB", "20 ms", "cubic"),
        ("8 Mbit/s", "250 kB", "35 ms", "reno"),
    ):
        policed = _pipe("100 Mbit/s", delay, 1000, policer__rate=rate, policer__burst=burst)
        yield from _pairs("policer", f"policer {rate}", policed, control)


def _managed() -> Iterator[Case]:
    for discipline, control in (("codel", "reno"), ("fq-codel", "cubic")):
        link = _pipe("10 Mbit/s", "30 ms", 1000, aqm__discipline=discipline)
        yield from _pairs("AQM", discipline, link, control)
        marking = link | {"link.aqm.ecn": "true"}
        name = f"{discipline} marking {control}"
        yield Case("AQM with ECN", name, marking, Sender(control, ecn=True))


def _shared() -> Iterator[Case]:
    for control, packets in (("cubic", 60), ("bbr", 100)):
        link = _pipe("10 Mbit/s", "25 ms", packets)
        name = f"shared {packets} {control}"
        yield Case("shared, seen", name, link, Sender(control, flows=2))
        several = Sender(control, flows=3)
        yield Case("shared, hidden", f"{name} hidden", link, several, is_hidden=True)


def _files() -> Iterator[Case]:
    lossy = _pipe("20 Mbit/s", "20 ms", 100, loss__rate="0.005")
    for control in ("cubic", "bbr"):
        for file in ("offload", "unordered"):
            yield Case(file, f"{file} {control}", lossy, Sender(control), file=file)


def _rate_steps() -> Iterator[Case]:
    falling = {"link.trace.up": "step.opportunities", "link.trace.data": "up"}
    falling |= {"link.delay": "25 ms", "link.queue.packets": "100"}
    for control in ("cubic", "bbr"):
        name = f"rate falls {control}"
        yield Case("rate step", name, falling, Sender(control), seconds=LONG)


def _long_queues() -> Iterator[Case]:
    link = _pipe("5 Mbit/s", "20 ms", 2000)
    for control in ("cubic", "bbr"):
        name = f"queue of 4.8 s {control}"
        yield Case("long queue", name, link, Sender(control), seconds=LONG)


def _aggregating() -> Iterator[Case]:
    wlan = {"topology": "wlan", "wired.rate": "1 Gbit/s", "wired.delay": "10 ms"}
    # A guest keeps a recording in its memory.
    for words, mode, seconds in (
        ("802.11n", {"wlan.standard": "802.11n", "wlan.mcs": "3"}, SHORT),
        ("802.11ax", {"wlan.standard": "802.11ax", "wlan.mcs": "1"}, 3),
    ):
        link = wlan | mode | {"flows.direction": "up"}
        yield Case("802.11n and ax", f"{words} upload", link, seconds=seconds)


def _bounded() -> Iterator[Case]:
    for buffer, control in ((65_536, "cubic"), (131_072, "bbr")):
        link = _pipe("20 Mbit/s", "50 ms", 300)
        name = f"send buffer {buffer // 1024} kB {control}"
        yield Case("send buffer", name, link, Sender(control, send_buffer=buffer))


def _paced() -> Iterator[Case]:
    for rate, delay, control in ((5, "20 ms", "cubic"), (12, "10 ms", "reno")):
        link = _pipe("20 Mbit/s", delay)
        name = f"paced at {rate} of 20 {control}"
        yield Case("pacing", name, link, Sender(control, pacing_bps=rate * 1_000_000))


def _small_writes() -> Iterator[Case]:
    for delay, writes in (("4 ms", (40, 200)), ("30 ms", (300, 300, 100))):
        name = f"writes of {' and '.join(map(str, writes))} over {delay}"
        yield Case("small writes", name, _pipe(delay=delay), Sender(writes=writes))


def _two_ways() -> Iterator[Case]:
    same = _pipe("6 Mbit/s", "30 ms", 60)
    narrow = _pipe("12 Mbit/s", "20 ms", 100, reverse__rate="1 Mbit/s")
    narrow |= {"link.reverse.queue.packets": "50"}
    for name, link in (("both ways", same), ("upload ruins download", narrow)):
        yield Case("other way", name, link, Sender(is_two_way=True))
    near = _pipe("15 Mbit/s", "12 ms", 120)
    yield Case("other way", "both ways reno", near, Sender("reno", is_two_way=True))
    cable = _pipe("25 Mbit/s", "15 ms", 150, reverse__rate="2 Mbit/s")
    cable |= {"link.reverse.queue.packets": "80"}
    yield Case("other way", "cable with an upload", cable, Sender("bbr", is_two_way=True))


def _changing_paths() -> Iterator[Case]:
    path = {"link.rate": "12 Mbit/s", "link.recorded.path": "path.csv"}
    path |= {"link.queue.packets": "100", "link.loss.rate": "0.002"}
    for control in ("cubic", "bbr"):
        name = f"path changes {control}"
        yield Case("path change", name, path, Sender(control), seconds=LONG)
    handover = {"link.rate": "8 Mbit/s", "link.recorded.path": "handover.csv"}
    handover |= {"link.queue.packets": "60", "link.loss.rate": "0.004"}
    for control in ("reno", "bbr"):
        name = f"handover {control}"
        yield Case("path change", name, handover, Sender(control), seconds=LONG)


def _holes() -> Iterator[Case]:
    for longest, delay in ((1400, "20 ms"), (1280, "45 ms")):
        name = f"packets over {longest} vanish"
        yield Case("MTU hole", name, _pipe(delay=delay), Sender(longest=longest))
    probing = Sender(longest=1400, mtu_probing=True)
    yield Case("MTU hole", "packets over 1400 vanish and the sender probes", _pipe(), probing)


def _windows() -> Iterator[Case]:
    for buffer, delay in ((32_768, "40 ms"), (65_536, "60 ms")):
        name = f"receive buffer {buffer // 1024} kB"
        link = _pipe("20 Mbit/s", delay, 200)
        yield Case("receive window", name, link, Sender(receive_buffer=buffer))


def _scans() -> Iterator[Case]:
    for every, length in (("7 s", "1500 ms"), ("5 s", "400 ms")):
        link = _pipe("20 Mbit/s", "5 ms", 200, stops__process="periodic", stops__direction="both")
        link |= {"link.stops.every": every, "link.stops.length": length}
        yield Case("scans", f"scans of {length} each {every}", link, seconds=LONG)


def _contention() -> Iterator[Case]:
    for working, length, loss in (("300 ms", "40 ms", "0.02"), ("150 ms", "60 ms", "0.05")):
        link = _pipe("15 Mbit/s", "3 ms", 100, stops__process="random", loss__rate=loss)
        link |= {"link.stops.working": working, "link.stops.length": length}
        yield Case("contention", f"stops of {length} each {working}", link)


def _peers_gone() -> Iterator[Case]:
    for after, control in ((4.0, "cubic"), (7.0, "bbr")):
        sender = Sender(control, gone_after_s=after)
        yield Case("peer gone", f"peer gone after {after:g} s", _pipe(), sender)
