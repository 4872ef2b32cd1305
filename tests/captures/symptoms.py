"""Recordings of what people complain of, each by a generator of these tests, for the page of cases.

A symptom is in the words of whoever has it; its recording has that fault and no other, so that a
test can tell whether the first sentence names it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import faults
from two_ways import two_ways
from writers import (
    Write,
    cut,
    in_wireguard,
    made,
    pinged,
    simulated,
    spoilt,
    ticking,
    without_times,
)

from ping_kinds import PingedLink, at_random, regular


@dataclass(frozen=True)
class Symptom:
    """A complaint and its recording."""

    name: str
    words: str
    """As somebody would put it into a search."""
    recording: str
    """What is recorded, and where."""
    write: Write
    names: str
    """Words of a first sentence that names the fault."""
    is_ranked: bool = False
    """Remedies are tried over the fitted link."""
    is_drawn: bool = True
    """The capture has times and TCP to draw."""
    sockets: str = ""
    """Output of `ss -ti` given with it, or alone."""

    @property
    def is_ping(self) -> bool:
        """The recording is the log of a ping."""
        return self.recording.startswith("ping")

    @property
    def command(self) -> str:
        """The command that a reader types."""
        if self.is_ping:
            return f"airtcp diagnose {self.name}.ping"
        if self.sockets and not self.is_ranked:
            return "airtcp diagnose --sockets"
        return f"airtcp diagnose {self.name}.pcap"


AT_SENDER = "a capture at the sender"


def _near(at: float, random: object) -> float:
    return 0.0008 + 0.0005 * random.random()  # type: ignore[attr-defined, no-any-return]


SS_WINDOW = (
    "ESTAB 0 1200 10.0.0.1:40000 10.0.0.2:5001\n\t cubic wscale:7,7 rto:304 rtt:103/1 mss:1448 "
    "cwnd:90 bytes_sent:9800000 bytes_acked:9750000 segs_out:6800 data_segs_out:6790 "
    "busy:20000ms rwnd_limited:19500ms(97.5%) minrtt:100.9\n"
)


def symptoms() -> list[Symptom]:
    """Every symptom, in the order of the page."""
    return [*_of_the_ends(), *_of_the_path(), *_of_the_radio(), *_of_the_capture()]


def _groups() -> dict[str, tuple[str, ...]]:
    groups = {
        "At the ends": _of_the_ends(),
        "On the path": _of_the_path(),
        "On the radio": _of_the_radio(),
        "In the capture itself": _of_the_capture(),
    }
    return {name: tuple(one.name for one in found) for name, found in groups.items()}


def _of_the_ends() -> list[Symptom]:
    return [
        Symptom(
            "hangs-after-connect",
            "SSH or HTTPS connects and then hangs; ping works, small pages load, large ones do not",
            AT_SENDER,
            made(faults.mtu_hole, has_short_after=True),
            "path MTU black hole",
        ),
        Symptom(
            "page-never-finishes",
            "Large pages never finish loading, and only the computer that loads them can capture",
            "a capture at the receiver",
            made(faults.mtu_hole_at_receiver),
            "path MTU black hole",
        ),
        Symptom(
            "vpn-slow-start",
            "The VPN is slow: every transfer through it starts with seconds of nothing",
            AT_SENDER,
            made(faults.probing_sender),
            "path MTU black hole",
        ),
        Symptom(
            "forty-milliseconds",
            "Every request takes 40 ms more than the ping, or 200 ms",
            AT_SENDER,
            made(faults.small_writes),
            "Small writes",
        ),
        Symptom(
            "server-waits-for-requests",
            "The server answers at once, and each request still takes 50 ms",
            "a capture at the server, which receives the requests",
            made(faults.small_writes_at_receiver),
            "Small writes",
        ),
        Symptom(
            "upload-stuck-at-a-few-megabits",
            "A single upload never gets beyond a few Mbit/s, several at once fill the line",
            AT_SENDER,
            made(faults.bounded_sender),
            "send buffer",
        ),
        Symptom(
            "upload-at-a-rate-nobody-set",
            "An upload runs at exactly 5 Mbit/s all the time, without a loss, on a faster line",
            AT_SENDER,
            made(faults.shaped_sender),
            "leaves evenly at 5.0",
        ),
        Symptom(
            "download-slow-over-distance",
            "Fast to a server nearby, slow to one across the ocean",
            AT_SENDER,
            simulated(
                link__rate="20 Mbit/s",
                link__delay="50 ms",
                link__queue__packets=300,
                tcp__receive_buffer=65_536,
                tcp__receive_window="fixed",
            ),
            "receiver's window of",
            is_ranked=True,
        ),
        Symptom(
            "ss-rwnd-limited",
            "ss shows rwnd_limited: whose fault is it?",
            "the output of `ss -tinmo` at the sender",
            lambda folder: folder,
            "receiver's window",
            sockets=SS_WINDOW,
        ),
        Symptom(
            "transfer-stops-for-good",
            "The transfer stops and the connection stays open for minutes",
            AT_SENDER,
            made(faults.peer_gone),
            "peer is gone",
        ),
    ]


def _of_the_path() -> list[Symptom]:
    return [
        Symptom(
            "upload-ruins-download",
            "As soon as somebody uploads, the download collapses",
            "a capture at the sender of one of the two transfers",
            made(two_ways),
            "Traffic the other way",
        ),
        Symptom(
            "download-slower-than-sold",
            "An asymmetric line: 20 Mbit/s down are sold, and a download gets a quarter of it",
            AT_SENDER,
            simulated(
                link__rate="20 Mbit/s",
                link__queue__packets=300,
                link__reverse__rate="100 kbit/s",
                link__reverse__queue__packets=1000,
            ),
            "slow way back",
        ),
        Symptom(
            "lag-while-downloading",
            "Calls and games lag while something downloads (bufferbloat)",
            AT_SENDER,
            simulated(link__queue__packets=1000),
            "but data waits",
            is_ranked=True,
        ),
        Symptom(
            "packet-loss",
            "Speed tests are far below the line's rate, and some packets are lost",
            AT_SENDER,
            simulated(link__loss__rate=0.005),
            "the link loses",
            is_ranked=True,
        ),
        Symptom(
            "rate-limited-by-provider",
            "Fast for a moment, then exactly 5 Mbit/s with many retransmissions",
            AT_SENDER,
            simulated(
                link__rate="100 Mbit/s",
                link__queue__packets=1000,
                link__policer__rate="5 Mbit/s",
                link__policer__burst="60 kB",
            ),
            "a policer drops",
            is_ranked=True,
        ),
        Symptom(
            "out-of-order-packets",
            "Wireshark is full of out-of-order packets and duplicate acknowledgments",
            AT_SENDER,
            simulated(
                link__rate="8 Mbit/s",
                link__jitter__mean="3 ms",
                link__jitter__shape="exponential",
                link__jitter__order="reorder",
            ),
            "packets overtake each other",
            is_ranked=True,
        ),
        Symptom(
            "jitter-no-loss",
            "High jitter, no loss, and TCP retransmits all the same",
            AT_SENDER,
            simulated(
                link__rate="8 Mbit/s",
                link__jitter__mean="8 ms",
                link__jitter__shape="exponential",
                link__jitter__order="reorder",
            ),
            "packets overtake each other",
            is_ranked=True,
        ),
        Symptom(
            "satellite-or-starlink-below-its-rate",
            "A satellite link gives a third of what the speed test shows",
            AT_SENDER,
            simulated(
                45,
                link__rate=None,
                link__delay=None,
                link__queue__packets=150,
                link__recorded__path="path.csv",
                link__trace__up="satellite.opportunities",
                link__trace__data="up",
                link__loss__rate=0.002,
            ),
            "the path changes",
            is_ranked=True,
        ),
        Symptom(
            "lte-slow-in-the-evening",
            "TCP is slow over LTE or 5G in the evening, and fast late at night",
            AT_SENDER,
            simulated(
                24,
                link__rate=None,
                link__delay="25 ms",
                link__queue__packets=600,
                link__trace__up="cell.opportunities",
                link__trace__data="up",
            ),
            "the link's rate varies",
            is_ranked=True,
        ),
        Symptom(
            "windows-download-slow",
            "A Windows PC downloads slowly, and only the PC can capture",
            "a capture at the receiver, without timestamps",
            made(faults.at_receiver),
            "were lost before they came here",
        ),
    ]


def _of_the_radio() -> list[Symptom]:
    return [
        Symptom(
            "wifi-download-slow-upload-fine",
            "The download over Wi-Fi is slow, the upload is fine",
            "a capture at the sender of the download",
            simulated(
                link__rate="30 Mbit/s",
                link__delay="8 ms",
                link__loss__model="gilbert-elliott",
                link__loss__good_to_bad=0.002,
                link__loss__bad_to_good=0.25,
                link__loss__loss_in_bad=0.6,
            ),
            "the link loses",
            is_ranked=True,
        ),
        Symptom(
            "ping-spikes-every-30-s",
            "Ping over Wi-Fi spikes to seconds every 30 s",
            "ping -D",
            pinged(PingedLink(_near, tuple(regular(34, 4.3, 600))), 600, 1.0),
            "every 34 s, as a radio does that scans",
        ),
        Symptom(
            "video-call-freezes-at-regular-times",
            "Video calls freeze for a second at regular times",
            AT_SENDER,
            simulated(
                40,
                link__delay="3 ms",
                link__stops__process="periodic",
                link__stops__every="6 s",
                link__stops__length="1200 ms",
                link__stops__direction="both",
            ),
            "1.2 s every 6 s, as a radio does that scans",
            is_ranked=True,
        ),
        Symptom(
            "drops-while-walking",
            "The connection drops for two seconds when I walk through the house",
            "ping -D",
            pinged(
                PingedLink(
                    lambda at, random: (0.013, 0.025)[int(at / 60) % 2] + 0.003 * random.random(),
                    gaps=tuple(regular(60, 2, 300, 58)),
                ),
                300,
            ),
            "as a device does that moves from one access point to another",
        ),
        Symptom(
            "starlink-drops-every-15-s",
            "Starlink drops for a moment every 15 s",
            "ping -D",
            pinged(PingedLink(_beams, gaps=tuple(regular(15, 0.6, 600, 12))), 600),
            "as Starlink's beams do each 15 s",
        ),
        Symptom(
            "wifi-loses-a-fifth",
            "Wi-Fi loses a fifth of the pings, and the rest jump about",
            "ping -D",
            pinged(
                PingedLink(
                    lambda _, random: 0.002 + 0.004 * random.expovariate(1),
                    tuple(at_random(3, 0.4, 300)),
                    loss=0.2,
                ),
                300,
            ),
            "The channel is busy, or the driver stalls",
        ),
        Symptom(
            "many-short-stalls",
            "Wi-Fi stutters all the time, close to the access point too",
            AT_SENDER,
            simulated(
                link__delay="3 ms",
                link__stops__process="random",
                link__stops__working="200 ms",
                link__stops__length="50 ms",
                link__loss__rate=0.03,
            ),
            "as on a busy channel, in a busy cell or with a driver that stalls",
            is_ranked=True,
        ),
        Symptom(
            "ping-even-up-to-100-ms",
            "Ping to the phone takes anything from 3 to 100 ms",
            "ping -D",
            pinged(PingedLink(lambda _, random: 0.003 + 0.1024 * random.random()), 300),
            "a beacon interval",
        ),
        Symptom(
            "transfer-waits-for-beacons",
            "A phone or laptop on battery transfers slowly over Wi-Fi, in steps of a tenth second",
            AT_SENDER,
            simulated(
                link__rate="8 Mbit/s",
                link__stops__process="periodic",
                link__stops__every="102.4 ms",
                link__stops__length="60 ms",
            ),
            "sleeps between beacons",
        ),
        Symptom(
            "internet-gone-for-minutes",
            "The internet is gone for some minutes, then all is well",
            "ping -D",
            pinged(PingedLink(gaps=((400, 190),)), 900, 1.0),
            "The link was down for",
        ),
        Symptom(
            "transfer-pauses-and-goes-on",
            "A transfer stalls for twenty seconds and then goes on",
            AT_SENDER,
            simulated(
                60,
                link__stops__process="recorded",
                link__stops__path="outage.csv",
                link__stops__direction="both",
            ),
            "20 s at once",
            is_ranked=True,
        ),
        Symptom(
            "ping-rises-while-others-stream",
            "Ping is good at night and bad whenever others stream",
            "ping -D",
            pinged(PingedLink(_filled), 300),
            "The round trip rises",
        ),
    ]


def _of_the_capture() -> list[Symptom]:
    transfer = simulated(8)
    return [
        Symptom(
            "clock-ticks-too-slowly",
            "A capture from Windows or an appliance, in which many packets have the same time",
            AT_SENDER,
            spoilt(simulated(8, link__delay="2 ms", link__queue__packets=5), ticking),
            "The clock of this capture is coarser than its round trips",
        ),
        Symptom(
            "times-are-lost",
            "A converted capture, in which everything happens at once",
            AT_SENDER,
            spoilt(transfer, without_times),
            "its times were lost",
            is_drawn=False,
        ),
        Symptom(
            "captured-with-a-short-snap-length",
            "tcpdump -s 68: Wireshark shows tiny windows and no SACK",
            AT_SENDER,
            spoilt(simulated(8, tcp__receive_buffer=60_000, link__rate="20 Mbit/s"), cut),
            "whose scale this capture lacks",
        ),
        Symptom(
            "captured-outside-the-tunnel",
            "Slow through a VPN, and the capture on eth0 or wlan0 shows no TCP",
            "a capture outside the tunnel",
            spoilt(transfer, in_wireguard),
            "encrypted below TCP",
            is_drawn=False,
        ),
    ]


def _beams(at: float, draw: Random) -> float:
    """Another base delay each 15 s, at 12, 27, 42 and 57 s of the minute."""
    beam = Random(int((at - 12) // 15))
    return 0.022 + 0.018 * beam.random() + 0.0015 * draw.expovariate(1)


def _filled(at: float, random: object) -> float:
    """A queue that others fill for half of each minute."""
    full = min(0.3, (at % 60 - 20) * 0.15) if 20 < at % 60 < 50 else 0.0
    draw = random.random  # type: ignore[attr-defined]
    return float(0.02 + full * (0.6 + 0.4 * draw()) + 0.002 * draw())


GROUPS = _groups()
"""Names of the symptoms by where the fault is."""
