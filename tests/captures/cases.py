"""The corpus: which links and senders are captured, and which half is looked at only at the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field

SECONDS = 24
"""The time for which each sender has something to send."""

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
    writes: tuple[int, ...] = ()
    """Bytes of the writes of a message; its answer is awaited before the next. Empty for none."""
    is_two_way: bool = False
    """Another connection carries as much the other way."""


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
        *_small_writes(),
        *_two_ways(),
        *_changing_paths(),
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


def _random_losses() -> Iterator[Case]:
    links = (
        ("half a percent", _pipe(loss__rate="0.005")),
        ("one percent", _pipe(loss__rate="0.01")),
        ("two percent", _pipe(loss__rate="0.02")),
    )
    for words, link in links:
        for control in CONTROLS:
            yield Case("iid", f"iid {words} {control}", link, Sender(control))
    fast = _pipe("30 Mbit/s", "10 ms", 60, loss__rate="0.002")
    slow = _pipe("4 Mbit/s", "60 ms", 200, loss__rate="0.003")
    short = _pipe("20 Mbit/s", "5 ms", 80, loss__rate="0.01")
    for words, link in (("fast", fast), ("slow", slow), ("short", short)):
        for control in ("cubic", "reno"):
            yield Case("iid elsewhere", f"iid {words} {control}", link, Sender(control))


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
    for words, link in (("short", short), ("long", long)):
        for control in CONTROLS:
            yield Case("bursts", f"bursts {words} {control}", link, Sender(control))


def _tail_drops() -> Iterator[Case]:
    for packets in (20, 50, 100, 300):
        for control in ("reno", "cubic"):
            name = f"queue {packets} {control}"
            yield Case("tail drop", name, _pipe(packets=packets), Sender(control))
    for packets in (20, 50):
        yield Case("tail drop", f"queue {packets} bbr", _pipe(packets=packets), Sender("bbr"))
    mixed = _pipe(packets=50, loss__rate="0.0005")
    for control in ("reno", "cubic"):
        yield Case("both losses", f"queue 50 and losses {control}", mixed, Sender(control))


def _stops() -> Iterator[Case]:
    for every, length in (("5 s", "1 s"), ("5 s", "600 ms"), ("3 s", "300 ms")):
        link = _pipe(stops__process="periodic", stops__every=every, stops__length=length)
        for control in ("cubic", "reno"):
            name = f"periodic stops {length} {control}"
            yield Case("periodic stops", name, link, Sender(control))
    for packets in ("wait", "held"):
        link = _pipe(
            stops__process="random",
            stops__working="3 s",
            stops__length="400 ms",
            stops__packets=packets,
        )
        for control in CONTROLS:
            name = f"random stops {packets} {control}"
            yield Case("random stops", name, link, Sender(control))
    lossy = _pipe(
        stops__process="random",
        stops__working="4 s",
        stops__length="500 ms",
        loss__rate="0.003",
    )
    for control in ("cubic", "bbr"):
        yield Case("stops and losses", f"stops and losses {control}", lossy, Sender(control))


def _varying_rates() -> Iterator[Case]:
    steps = {"link.trace.up": "steps.opportunities", "link.trace.data": "up", "link.delay": "25 ms"}
    steps |= {"link.queue.packets": "100"}
    for control in CONTROLS:
        yield Case("varying rate", f"rate in steps {control}", steps, Sender(control))
    lossy = steps | {"link.loss.rate": "0.003"}
    yield Case("varying rate", "rate in steps and losses cubic", lossy, Sender("cubic"))


def _jitter() -> Iterator[Case]:
    for mean, order in (("5 ms", "in-order"), ("20 ms", "in-order"), ("3 ms", "reorder")):
        link = _pipe(jitter__mean=mean, jitter__shape="exponential", jitter__order=order)
        name = f"jitter {mean} {order}"
        yield Case("jitter", name, link | {"link.loss.rate": "0.003"})
    for by in ("15 ms", "60 ms"):
        link = _pipe(late__share="0.005", late__by=by)
        yield Case("reordering", f"late by {by}", link | {"link.loss.rate": "0.002"})
    # Later than the round trip: the receiver refuses segments with too old a timestamp.
    link = _pipe(late__share="0.004", late__by="150 ms")
    for control in ("cubic", "bbr"):
        yield Case("old timestamps", f"late by 150 ms {control}", link, Sender(control))


def _limited() -> Iterator[Case]:
    lossy = _pipe(loss__rate="0.005")
    for control in ("cubic", "reno"):
        slow = Sender(control, rate_bps=3_000_000)
        yield Case("application", f"application 3 Mbit/s {control}", lossy, slow)
    for control in ("cubic", "reno"):
        bursts = Sender(control, burst_bytes=120_000, pause_s=0.4)
        yield Case("application", f"application bursts {control}", lossy, bursts)
    small = Sender("cubic", receive_buffer=32_768)
    yield Case("receiver", "receive buffer 32 kB", _pipe("20 Mbit/s", "40 ms"), small)
    yield Case("receiver", "receive buffer and losses", lossy, small)
    reader = Sender("cubic", read_bps=4_000_000)
    yield Case("receiver", "slow reader", _pipe(), reader)
    yield Case("receiver", "slow reader and losses", lossy, reader)


def _options() -> Iterator[Case]:
    lossy = _pipe(loss__rate="0.01")
    stopping = _pipe(stops__process="periodic", stops__every="5 s", stops__length="600 ms")
    for control in ("cubic", "reno"):
        no_clock = Sender(control, timestamps=False)
        yield Case("no timestamps", f"no timestamps losses {control}", lossy, no_clock)
        yield Case("no timestamps", f"no timestamps stops {control}", stopping, no_clock)
        no_sack = Sender(control, sack=False)
        yield Case("no sack", f"no sack losses {control}", lossy, no_sack)
    neither = Sender("cubic", sack=False, timestamps=False)
    yield Case("no options", "no options losses", lossy, neither)
    yield Case("no options", "no options stops", stopping, neither)


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
    blocks = {"wlan.loss.model": "block", "wlan.loss.lost": "12", "wlan.loss.of": "100"}
    for words, loss in (("bursts", bursts), ("blocks", blocks)):
        up = wlan | loss | {"flows.direction": "up"}
        down = wlan | loss | {"flows.direction": "down"}
        yield Case("802.11", f"802.11b upload {words}", up)
        yield Case("802.11", f"802.11b download {words}", down, download=True)
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
    for rate, burst, delay in (("5 Mbit/s", "60 kB", "20 ms"), ("8 Mbit/s", "250 kB", "35 ms")):
        policed = _pipe("100 Mbit/s", delay, 1000, policer__rate=rate, policer__burst=burst)
        for control in CONTROLS:
            yield Case("policer", f"policer {rate} {control}", policed, Sender(control))


def _managed() -> Iterator[Case]:
    for discipline in ("codel", "fq-codel"):
        link = _pipe("10 Mbit/s", "30 ms", 1000, aqm__discipline=discipline)
        for control in CONTROLS:
            yield Case("AQM", f"{discipline} {control}", link, Sender(control))
        marking = link | {"link.aqm.ecn": "true"}
        for control in ("cubic", "reno"):
            name = f"{discipline} marking {control}"
            yield Case("AQM with ECN", name, marking, Sender(control, ecn=True))


def _shared() -> Iterator[Case]:
    for control, packets in (("cubic", 60), ("reno", 100), ("bbr", 100), ("cubic", 150)):
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
    for control in CONTROLS:
        yield Case("rate step", f"rate falls {control}", falling, Sender(control))
    lossy = falling | {"link.loss.rate": "0.003"}
    yield Case("rate step", "rate falls and losses cubic", lossy)


def _long_queues() -> Iterator[Case]:
    link = _pipe("5 Mbit/s", "20 ms", 2000)
    for control in CONTROLS:
        yield Case("long queue", f"queue of 4.8 s {control}", link, Sender(control))
    lossy = _pipe("5 Mbit/s", "20 ms", 400, loss__rate="0.0003")
    yield Case("long queue", "queue of 1 s and losses", lossy)


def _aggregating() -> Iterator[Case]:
    wlan = {
        "topology": "wlan",
        "wired.rate": "1 Gbit/s",
        "wired.delay": "10 ms",
    }
    links = (
        ("802.11n", {"wlan.standard": "802.11n", "wlan.mcs": "3"}),
        ("802.11ax", {"wlan.standard": "802.11ax", "wlan.mcs": "1"}),
    )
    lossy = {"wlan.loss.rate": "0.1"}
    for words, mode in links:
        up = wlan | mode | {"flows.direction": "up"}
        down = wlan | mode | lossy | {"flows.direction": "down"}
        yield Case("802.11n and ax", f"{words} upload", up)
        yield Case("802.11n and ax", f"{words} download lossy", down, download=True)
        yield Case("802.11n and ax", f"{words} upload bbr", up, Sender("bbr"))


def _bounded() -> Iterator[Case]:
    for buffer, control in ((65_536, "cubic"), (65_536, "bbr"), (131_072, "cubic")):
        link = _pipe("20 Mbit/s", "50 ms", 300)
        name = f"send buffer {buffer // 1024} kB {control}"
        yield Case("send buffer", name, link, Sender(control, send_buffer=buffer))


def _small_writes() -> Iterator[Case]:
    for delay in ("4 ms", "30 ms"):
        for writes in ((40, 200), (300, 300, 100)):
            name = f"writes of {' and '.join(map(str, writes))} over {delay}"
            yield Case("small writes", name, _pipe(delay=delay), Sender(writes=writes))


def _two_ways() -> Iterator[Case]:
    for packets, control in ((60, "cubic"), (60, "reno"), (150, "cubic")):
        link = _pipe("6 Mbit/s", "30 ms", packets)
        sender = Sender(control, is_two_way=True)
        yield Case("other way", f"both ways {packets} {control}", link, sender)


def _changing_paths() -> Iterator[Case]:
    path = {"link.rate": "12 Mbit/s", "link.recorded.path": "path.csv"}
    path |= {"link.queue.packets": "100", "link.loss.rate": "0.002"}
    for control in CONTROLS:
        yield Case("path change", f"path changes {control}", path, Sender(control))
