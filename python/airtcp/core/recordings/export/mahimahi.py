"""Rate traces for mm-link, with the shell line that has all else."""

from airtcp.core.recordings.export.pipe import Pipe, said_of_queue
from airtcp.core.recordings.opportunities import PACKET_BYTES, opportunities, to_lines
from airtcp.core.recordings.recording import DOWN, UP

_CONSTANT_S = 10.0
_UNLIMITED_BPS = 1e9


def exported(pipe: Pipe) -> tuple[dict[str, bytes], list[str]]:
    """Files by name, and notes."""
    files, notes = {}, list(pipe.notes)
    words = []
    for way in (UP, DOWN):
        one = pipe.ways[way]
        if one.trace is not None and one.opportunity_bytes == PACKET_BYTES:
            files[f"link.{way}"] = one.trace
        elif one.trace is not None:
            files[f"link.{way}"] = to_lines(one.packet_times_ms)
            notes.append(
                f"Opportunities of the direction {way} have {one.opportunity_bytes} bytes, "
                f"mahimahi's {PACKET_BYTES}: one is written when enough bytes have come together."
            )
        else:
            bps = one.rate_bps
            if bps is None:
                bps = _UNLIMITED_BPS
                notes.append(f"The direction {way} has no limit: it is written as 1 Gbit/s.")
            times, _ = opportunities([(_CONSTANT_S, bps)])
            files[f"link.{way}"] = to_lines(times)
            if bps > 12e6:
                notes.append(
                    f"Times are whole milliseconds: above 12 Mbit/s packets of the direction {way} "
                    "come in bunches."
                )
        side = "uplink" if way == UP else "downlink"
        limit = (
            f"packets={one.queue_packets}"
            if one.queue_packets is not None
            else f"bytes={one.queue_bytes}"
        )
        words.append(f'--{side}-queue=droptail --{side}-queue-args="{limit}"')
        notes += said_of_queue(way, one, ())
        if one.delays:
            notes.append(
                f"Delays of the direction {way} change with time: mm-delay has their median."
            )
        if one.loss_model.get("model", "iid") != "iid":
            notes.append(f"Losses of the direction {way} come in bursts: mm-loss has their mean.")
    up, down = pipe.ways[UP], pipe.ways[DOWN]
    delay_ms = round(1e3 * (up.delay_s + down.delay_s) / 2)
    if abs(up.delay_s - down.delay_s) > 5e-4 or abs(1e3 * up.delay_s - delay_ms) > 0.01:
        notes.append("mm-delay has one delay for both ways, in whole milliseconds.")
    losses = "".join(
        f"mm-loss {side} {one.loss:.6g} "
        for side, one in (("uplink", up), ("downlink", down))
        if one.loss
    )
    line = f'mm-delay {delay_ms} {losses}mm-link link.up link.down {" ".join(words)} -- "$@"'
    files["link.sh"] = f"#!/bin/sh\n# {pipe.name}: ./link.sh COMMAND\nexec {line}\n".encode()
    return files, notes
