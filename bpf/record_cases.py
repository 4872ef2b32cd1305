"""Writes cases.csv: recorded round trips, and NewZag's verdict on a loss of n segments after each.

    python3 bpf/record_cases.py NAME=CAPTURE.pcap ... > bpf/cases.csv

A capture is one of a bulk sender's device (raw IPv4 packets; dumpcap -P -i link0). The verdicts
are computed here in exact fractions, after Lien, Reeve & Lee, §II-A and §III-B: the classifiers in
C and in Rust are compared with a third one.
"""

import struct
import sys
from fractions import Fraction
from pathlib import Path

MAX = 1000
"""Samples of a capture that are kept."""
RAW_IP = {12, 101}
MEAN_GAIN = Fraction(1, 16)
DEVIATION_GAIN = Fraction(1, 8)
OWN = (Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-1, 2))
ADJUSTED = (Fraction(0), Fraction(0), Fraction(0), Fraction(-1, 2))


def packets(path: Path):
    """Time in µs, source port, destination port, sequence number, ACK, and length of the data."""
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    (link,) = struct.unpack(order + "I", data[20:24])
    if link not in RAW_IP:
        raise SystemExit(f"{path}: link type {link}: expected raw IP, of a TUN device")
    place = 24
    while place + 16 <= len(data):
        seconds, micros, kept, length = struct.unpack(order + "4I", data[place : place + 16])
        packet = data[place + 16 : place + 16 + kept]
        place += 16 + kept
        if not packet or packet[0] >> 4 != 4 or packet[9] != 6:
            continue
        header = 4 * (packet[0] & 15)
        tcp = packet[header:]
        source, target, sequence, ack = struct.unpack("!HHII", tcp[:12])
        payload = length - header - 4 * (tcp[12] >> 4)
        yield seconds * 1_000_000 + micros, source, target, sequence, ack, payload


def round_trips(path: Path) -> list[int]:
    """The round trip in µs of each acknowledgment of data that was sent once (Karn)."""
    found = list(packets(path))
    sent_by: dict[tuple[int, int], int] = {}
    for _, source, target, _, _, payload in found:
        sent_by[source, target] = sent_by.get((source, target), 0) + payload
    ours = max(sent_by, key=lambda ports: sent_by[ports])
    times: dict[int, int] = {}
    samples: list[int] = []
    highest = 0
    start = None
    for time, source, target, sequence, ack, payload in found:
        if (source, target) == ours and payload > 0:
            start = sequence if start is None else start
            end = (sequence - start) % 2**32 + payload
            if end <= highest:
                times.pop(end, None)
            else:
                highest = end
                times[end] = time
        elif (target, source) == ours and start is not None:
            end = (ack - start) % 2**32
            if end in times:
                samples.append(time - times[end])
                times = {known: sent for known, sent in times.items() if known > end}
    return samples


def verdicts(latest: Fraction, mean: Fraction, deviation: Fraction, table) -> str:
    """A letter for each n from 1 to 4: r for the radio, c for congestion."""
    return "".join("r" if latest < mean - row * deviation else "c" for row in table)


def main() -> None:
    """Prints the cases of the captures that are named."""
    print("case,rtt_us,newzag,adjusted")
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        mean = deviation = Fraction(0)
        for sample in round_trips(Path(path))[:MAX]:
            latest = Fraction(sample)
            if not mean:
                mean = latest
            else:
                mean += MEAN_GAIN * (latest - mean)
                deviation += DEVIATION_GAIN * (abs(latest - mean) - deviation)
            # The denominators grow by a factor of 16 each time; 2^-200 decides nothing.
            mean, deviation = (Fraction(int(x * 2**200), 2**200) for x in (mean, deviation))
            own, adjusted = (verdicts(latest, mean, deviation, table) for table in (OWN, ADJUSTED))
            print(f"{name},{sample},{own},{adjusted}")


main()
