"""CellReplay's four files: delays with light opportunities, and heavy ones, of each direction."""

from airtcp.core.recordings.export.pipe import Direction, Pipe, said_of_queue
from airtcp.core.recordings.opportunities import opportunities, rescaled, to_lines
from airtcp.core.recordings.recording import DOWN, UP

HEAVY_BYTES = 1400
_CONSTANT_S = 10.0
_UNLIMITED_BPS = 1e9
_EVERY_S = 0.5
"""A train each half second, as in CellReplay's recordings (100 ms to 1 s)."""
_TRAIN = 10


def exported(pipe: Pipe) -> tuple[dict[str, bytes], list[str]]:
    """Files by name, and notes."""
    files, notes = {}, list(pipe.notes)
    for way in (UP, DOWN):
        one = pipe.ways[way]
        times, is_own = _heavy(one)
        files[f"heavy.{way}"] = one.trace if is_own and one.trace else to_lines(times)
        if one.trace is not None and not is_own:
            notes.append(
                f"Opportunities of the direction {way} have {one.opportunity_bytes} bytes, "
                f"CellReplay's {HEAVY_BYTES}: one is written when enough bytes have come together."
            )
        files[f"light.{way}"] = one.light or _light(one, times).encode()
        if one.light is None:
            notes.append(
                f"The direction {way} has one rate: light opportunities are the heavy ones, so "
                "that a short transfer meets the rate of a long one."
            )
        notes += said_of_queue(way, one, ())
        if one.loss:
            notes.append(f"Losses of the direction {way} ({100 * one.loss:.3g} %) are left out.")
        if one.rate_bps is None and one.trace is None:
            notes.append(f"The direction {way} has no limit: it is written as 1 Gbit/s.")
    both = (pipe.ways[UP].delay_s + pipe.ways[DOWN].delay_s) / 2
    if abs(pipe.ways[UP].delay_s - both) > 5e-4:
        notes.append("Each direction has its own delay, where CellReplay's recordings have half.")
    notes.append("The queue is an argument of CellReplay's.")
    return files, notes


def _heavy(one: Direction) -> tuple[list[int], bool]:
    """Opportunities of 1400 bytes, and whether the trace is kept as it is."""
    if one.trace is None:
        times, _ = opportunities([(_CONSTANT_S, one.rate_bps or _UNLIMITED_BPS)], HEAVY_BYTES)
        return times, False
    if one.opportunity_bytes == HEAVY_BYTES:
        return one.times_ms, True
    return rescaled(one.times_ms, one.opportunity_bytes, HEAVY_BYTES), False


def _light(one: Direction, times: list[int]) -> str:
    rows = []
    end_s = times[-1] / 1e3
    place = 0
    for number in range(max(3, int(end_s / _EVERY_S))):
        at_s = number * _EVERY_S
        while place < len(times) - 1 and times[place] < 1e3 * at_s:
            place += 1
        train = times[place : place + _TRAIN] or [times[-1]]
        offsets = " ".join(str(time - train[0]) for time in train)
        known = [delay for start, delay, _ in one.delays if start <= at_s]
        delay_s = known[-1] if known else one.delay_s
        rows.append(f"{round(1e3 * at_s)} {1e3 * delay_s:.6g} {offsets}\n")
    return "".join(rows)
