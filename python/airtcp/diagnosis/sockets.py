"""Connections by the kernel's counters: the output of `ss -ti`, without a capture.

For each connection the kernel knows its limits, its retransmissions, the share proven needless by
the receiver, and the congestion control's name. It does not know why packets were lost.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_bytes
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.saved import saved_text

COMMAND = ("ss", "-tinOH", "state", "established")
MIN_BYTES = 100_000
"""Minimum bytes sent and received for a connection to show its link."""
_STATES = ("ESTAB", "CLOSE-WAIT", "FIN-WAIT-1", "FIN-WAIT-2", "LAST-ACK", "CLOSING")
_PROTOCOLS = ("tcp", "tcp6")
"""As ss and netstat write them."""
_HEADINGS = ("State", "Recv-Q", "Netid")
_LAST = ("rcv_space", "rcv_ssthresh", "notsent", "minrtt", "snd_wnd")
"""Counters that `ss` prints after the retransmissions'; it prints the first for every one."""
_FACTORS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_NUMBER = r"\d+(?:\.\d*)?"
_RATE = re.compile(rf"({_NUMBER})([KMG]?)bps")


@dataclass(frozen=True)
class Sockets:
    """The connections of a host."""

    source: str
    connections: tuple[Connection, ...]
    """Connections with enough data, the largest first."""
    small: int
    """The number of others."""
    every: tuple[Connection, ...] = ()
    """All connections, regardless of size."""

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        if not self.connections:
            return (
                f"{self.source}: no connection moved {format_bytes(MIN_BYTES)} or more: run it "
                "while the slow transfer is under way."
            )
        limits = [limit for one in self.connections if (limit := one.limit)]
        if limits:
            return limits[0]
        whole = [one for one in self.connections if not one.is_cut]
        waiting = [one for one in whole if one.waiting_s and not one.is_reordered]
        if waiting:
            return max(waiting, key=lambda one: one.waiting_s).waiting_headline
        lossy = [one for one in whole if one.resent and one.segments]
        if not lossy and len(whole) < len(self.connections):
            return next(one for one in self.connections if one.is_cut).cut_headline
        if not lossy:
            return "Of the connections that sent much, none had to send anything again."
        return max(lossy, key=lambda one: one.resent_share).repairs_headline

    @property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline]
        for one in self.connections:
            lines += one.sentences
        if self.small:
            lines.append(f"{self.small} others moved too little.")
        if self.connections:
            lines.append(
                "No remedy is ranked from counters: capture the transfer (`airtcp diagnose "
                "--advise`) for the cause of its losses and what would help."
            )
        return lines


def of_ends(sockets: Sockets, sender: str, receiver: str) -> Connection | None:
    """The connection between two ends, as a capture writes them; None if `sockets` lacks it.

    The socket is the sender's: the other end's counters are for the other direction's data.
    """
    wanted = (_bare(sender), _bare(receiver))
    ends = ((one, (_bare(one.local), _bare(one.peer))) for one in sockets.every)
    return next((one for one, found in ends if found == wanted), None)


def _bare(end: str) -> str:
    """An end without the device that `ss` adds, and IPv4-mapped addresses as IPv4."""
    address, _, port = end.rpartition(":")
    address = address.split("%", 1)[0].strip("[]").removeprefix("::ffff:")
    return f"{address}:{port}"


def sockets_of(path: str | None) -> Sockets:
    """The connections of this host, or of a file with the output of `ss -ti` ("-" is not one).

    Raises:
        ScenarioError: `ss` is missing or failed, or the file cannot be read or is something else.
    """
    if path is None:
        return parsed(_run(), "ss")
    try:
        text = saved_text(Path(path))
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be read ({error.strerror}): expected the output of `ss -ti`"
        ) from None
    return parsed(text, path)


def parsed(text: str, source: str) -> Sockets:
    """The connections in the output of `ss -ti`, with or without -n, -O and its heading.

    Raises:
        ScenarioError: no line is a connection's, or the lines are in reverse.
    """
    _refuse_reversed(text, source)
    found = list(_connections(text.splitlines()))
    if not found and text.strip() and not text.lstrip().startswith(_HEADINGS):
        raise ScenarioError(
            f"{source}: holds no connection: expected the output of `ss -ti`, taken while the slow "
            "transfer is under way"
        )
    if found and not any(map(_has_counters, text.splitlines())):
        raise ScenarioError(
            f"{source}: names connections ({len(found)}) without their counters: expected the "
            "output of `ss -ti`, whose -i prints them"
        )
    large = [one for one in found if one.is_cut or _moved(one) >= MIN_BYTES]
    large.sort(key=_moved, reverse=True)
    return Sockets(source, tuple(large), len(found) - len(large), tuple(found))


def _moved(one: Connection) -> int:
    """Bytes in both directions."""
    return one.sent_bytes + one.received_bytes


def _refuse_reversed(text: str, source: str) -> None:
    """Refuses lines in reverse, in which each connection has the counters of its neighbour.

    Raises:
        ScenarioError: counters come first, and the last line is a connection's.
    """
    told = [line for line in text.splitlines() if _has_counters(line) or _ends(line) is not None]
    if told and _ends(told[0]) is None and _ends(told[-1]) is not None:
        if _has_counters(told[-1]):
            return
        raise ScenarioError(
            f"{source}: has counters in front of the first connection and none behind the last: "
            "expected each connection's line in front of its counters; give the output in the "
            "order in which `ss -ti` prints it"
        )


def is_socket_list(first: str) -> bool:
    """Whether a text begins like the output of `ss -t`, with or without its heading."""
    lines = [line for line in first.splitlines() if line.strip()]
    # A prompt or watch(1) may come first: then a line names the state, or the protocol.
    told = [line for line in lines if line.split()[0] in (*_STATES, *_PROTOCOLS)]
    return any(_ends(line) is not None for line in lines[:2] + told)


def _has_counters(line: str) -> bool:
    """Whether a line has the fields that `-i` prints for every connection."""
    return "cwnd:" in line or "rto:" in line


def _run() -> str:
    if shutil.which(COMMAND[0]) is None:
        raise ScenarioError(
            "diagnose --sockets: `ss` is missing: install iproute2, or give a file that holds the "
            "output of `ss -ti` of another machine"
        )
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ScenarioError(f"diagnose --sockets: {' '.join(COMMAND)}: {done.stderr.strip()}")
    return done.stdout


def _connections(lines: Iterable[str]) -> Iterator[Connection]:
    """Each connection is a line with its ends, and its counters after them or on the next line."""
    ends: tuple[str, str] | None = None
    counters = ""
    for line in lines:
        found = None if line[:1].isspace() and ends else _ends(line)
        if found is None:
            counters += " " + line
            continue
        if ends:
            yield _connection(ends, counters)
        ends, counters = found[0], found[1]
    if ends:
        yield _connection(ends, counters)


def _ends(line: str) -> tuple[tuple[str, str], str] | None:
    """The two ends and the rest of a line that begins with a connection."""
    words = line.split()
    if words and words[0] in _PROTOCOLS:
        words = words[1:]
    if words and words[0] in _STATES:
        words = words[1:]
    # The queues are two numbers; ends have a port.
    if len(words) < 4 or not (words[0].isdigit() and words[1].isdigit()):
        return None
    if ":" not in words[2] or ":" not in words[3]:
        return None
    return (words[2], words[3]), " ".join(words[4:])


def _connection(ends: tuple[str, str], text: str) -> Connection:
    words = text.split()
    pairs = dict(word.split(":", 1) for word in words if ":" in word)
    # Word by word: an expression over the text takes the square of a long line's time.
    rates = {name: word for name, word in pairwise(words) if _RATE.fullmatch(word)}

    def whole(key: str) -> int | None:
        found = re.match(r"\d+", pairs.get(key, ""))
        return int(found[0]) if found else None

    def seconds(key: str) -> float | None:
        found = re.match(rf"({_NUMBER})ms", pairs.get(key, ""))
        return float(found[1]) / 1e3 if found else None

    def milliseconds(text: str) -> float | None:
        found = re.match(_NUMBER, text)
        return float(found[0]) / 1e3 if found else None

    # Before 4.6 a kernel counts segments with and without data together.
    with_data, all_segments = whole("data_segs_out"), whole("segs_out")
    acked = whole("bytes_acked") or 0
    resent_bytes = whole("bytes_retrans") or 0
    sent_bytes = whole("bytes_sent") or acked + resent_bytes
    is_bound = with_data is None and all_segments is not None and sent_bytes > 0
    again = re.fullmatch(r"\d+/(\d+)", pairs.get("retrans", ""))
    return Connection(
        local=ends[0],
        peer=ends[1],
        control=_control(words),
        rtt_s=milliseconds(pairs.get("rtt", "")),
        least_rtt_s=milliseconds(pairs.get("minrtt", "")),
        sent_bytes=sent_bytes,
        received_bytes=whole("bytes_received") or 0,
        resent_bytes=resent_bytes,
        needless=whole("dsack_dups"),
        segments=(all_segments if is_bound else with_data) or 0,
        resent=int(again[1]) if again else 0,
        reordering=whole("reord_seen"),
        delivery_bps=_rate(rates.get("delivery_rate")),
        busy_s=seconds("busy"),
        receiver_s=seconds("rwnd_limited") or 0.0,
        buffer_s=seconds("sndbuf_limited") or 0.0,
        is_application_limited="app_limited" in words,
        cwnd=whole("cwnd"),
        is_bound=is_bound,
        is_cut=not any(key in pairs for key in _LAST),
    )


def _control(words: list[str]) -> str | None:
    """The first bare word that is no flag of the connection's options: `ss` prints the name so."""
    flags = {"ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "send", "pacing_rate"}
    flags |= {"delivery_rate", "users", "timer"}
    bare = (word for word in words if re.fullmatch(r"[a-z][a-z0-9_]*", word))
    return next((word for word in bare if word not in flags), None)


def _rate(text: str | None) -> float | None:
    found = _RATE.fullmatch(text or "")
    return float(found[1]) * _FACTORS[found[2]] if found else None
