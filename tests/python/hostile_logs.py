"""Logs as people really have them: cut, recoded, compressed, pasted together, in other languages.

Mutants (test_log_mutants.py) damage one log; here whole files are treated as editors, shells,
mailers and disks treat them. A log is a function of its number.
"""

import bz2
import gzip
import lzma
import random
import re
from collections.abc import Callable, Iterator, Sequence

NUMBER = re.compile(rb"\d+(?:[.,]\d+)?")
HUGE = (b"1e400", b"9" * 40, b"18446744073709551616", b"0x7fffffff", b"1" + b"0" * 300)
CLOCK = re.compile(rb"\[(\d{9,10})\.(\d+)\]")
DIGITS = {
    "arabic": "٠١٢٣٤٥٦٧٨٩",
    "full width": "０１２３４５６７８９",  # noqa: RUF001
    "devanagari": "०१२३४५६७८९",
}
PROMPTS = (
    b"user@host:~$ ping -D 192.0.2.1\n",
    b"C:\\Users\\me>ping 192.0.2.1\r\n",
    b"Script started on 2026-01-01 00:00:00+00:00\n\x1b[?2004h",
    b"> > > From: me\n> Subject: my ping\n\n",
    b"```\n",
)

Log = bytes
Treatment = Callable[[Log, Sequence[Log], random.Random], Log]


def hostile(seeds: Sequence[Log], first: int, count: int) -> Iterator[tuple[str, Log]]:
    """Logs by number, each with its name: the number, its seed and the treatments."""
    for number in range(first, first + count):
        draw = random.Random(number)
        which = draw.randrange(len(seeds))
        log = seeds[which]
        chosen = draw.choices(TREATMENTS, k=draw.choice((1, 1, 2, 3)))
        # What wraps a file comes last, as on a disk.
        chosen.sort(key=_WRAPPING.__contains__)
        for treat in chosen:
            log = treat(log, seeds, draw)
        yield f"{number}: seed {which}, {', '.join(one.__name__ for one in chosen)}", log


def _cut(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    return log[: draw.randrange(len(log) + 1)]


def _without_beginning(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    return log[draw.randrange(len(log) + 1) :]


def _reversed(log: Log, _: Sequence[Log], __: random.Random) -> Log:
    return b"\n".join(log.split(b"\n")[::-1])


def _line_ends(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    ends = (b"\r\n", b"\r", b"\n\n", b"\r\r\n", b" \n", b"\t\n", b"\x0b\n", b"\xe2\x80\xa8")
    return log.replace(b"\n", draw.choice(ends))


def _another_tool(log: Log, seeds: Sequence[Log], draw: random.Random) -> Log:
    """Two programs wrote into one file, one after the other."""
    return draw.choice((b"", b"\n", b"\n---\n")).join((log, draw.choice(seeds)))


def _interleaved(log: Log, seeds: Sequence[Log], draw: random.Random) -> Log:
    """Two programs wrote into one file at the same time."""
    lines = [*log.split(b"\n")]
    for line in draw.choice(seeds).split(b"\n"):
        lines.insert(draw.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _nul_bytes(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    """A file that was open while the machine crashed has a run of zeros."""
    at = draw.randrange(len(log) + 1)
    return log[:at] + bytes(draw.choice((1, 3, 4096))) + log[at:]


def _huge_number(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    found = list(NUMBER.finditer(log))
    for one in sorted(draw.sample(found, min(3, len(found))), key=lambda one: -one.start()):
        log = log[: one.start()] + draw.choice(HUGE) + log[one.end() :]
    return log


def _negative(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    share = draw.choice((0.02, 1.0))
    return NUMBER.sub(lambda one: (b"-" if draw.random() < share else b"") + one[0], log)


def _clock_steps(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    """The machine's clock is set while the log is written."""
    after, by = draw.randrange(len(log) + 1), draw.choice((-3600, -1, 3600, 10**9, -(10**9)))

    def stepped(one: re.Match[bytes]) -> bytes:
        return b"[%d.%s]" % (int(one[1]) + (by if one.start() > after else 0), one[2])

    return CLOCK.sub(stepped, log)


def _one_time(log: Log, _: Sequence[Log], __: random.Random) -> Log:
    return CLOCK.sub(b"[1700000000.000000]", log)


def _repeated_header(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    lines = log.split(b"\n")
    every = draw.choice((1, 10))
    return b"\n".join(
        part
        for place, line in enumerate(lines)
        for part in ((lines[0], line) if place % every == 0 else (line,))
    )


def _prompt(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    return draw.choice(PROMPTS) + log


def _quoted(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    before = draw.choice((b"> ", b"    ", b"# ", b"12:01:02.123 ", b"host ping[12]: ", b"\x1b[32m"))
    return b"\n".join(before + line for line in log.split(b"\n"))


def _wrapped(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    """A mailer breaks lines."""
    width = draw.choice((20, 40, 72))
    lines = (
        line[at : at + width]
        for line in log.split(b"\n")
        for at in range(0, max(len(line), 1), width)
    )
    return b"\n".join(lines)


def _one_line(log: Log, _: Sequence[Log], __: random.Random) -> Log:
    return log.replace(b"\n", b" ")


def _comma(log: Log, _: Sequence[Log], __: random.Random) -> Log:
    return re.sub(rb"(?<=\d)\.(?=\d)", b",", log)


def _other_digits(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    digits = DIGITS[draw.choice(sorted(DIGITS))]
    text = log.decode("utf-8", "replace")
    return text.translate({ord("0") + one: digits[one] for one in range(10)}).encode()


def _capitals(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    return log.upper() if draw.random() < 0.5 else log.lower()


def _all_alike(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    lines = log.split(b"\n")
    return b"\n".join([draw.choice(lines)] * draw.choice((1, 40, 400)))


def _long_line(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    return log + b"\n" + draw.choice((b"x", b"1 ", b"[", b'{"a":')) * 60_000


def _encoded(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    """A Windows console writes UTF-16, an editor a byte-order mark."""
    text = log.decode("utf-8", "replace")
    chosen = draw.choice(("utf-16", "utf-16-be", "utf-8-sig", "utf-32", "latin-1", "cp037"))
    mark = b"\xfe\xff" if chosen == "utf-16-be" else b""
    return mark + text.encode(chosen, "replace")


def _compressed(log: Log, _: Sequence[Log], draw: random.Random) -> Log:
    """Compressed, and often cut or damaged."""
    pack = draw.choice((gzip.compress, gzip.compress, bz2.compress, lzma.compress))
    packed = bytearray(pack(log))
    match draw.randrange(3):
        case 0:
            del packed[draw.randrange(len(packed) + 1) :]
        case 1:
            packed[draw.randrange(len(packed))] ^= 0xFF
    return bytes(packed)


_WRAPPING = (_encoded, _compressed)
TREATMENTS: tuple[Treatment, ...] = (
    _cut,
    _without_beginning,
    _reversed,
    _line_ends,
    _another_tool,
    _interleaved,
    _nul_bytes,
    _huge_number,
    _negative,
    _clock_steps,
    _one_time,
    _repeated_header,
    _prompt,
    _quoted,
    _wrapped,
    _one_line,
    _comma,
    _other_digits,
    _capitals,
    _all_alike,
    _long_line,
    *_WRAPPING,
)
