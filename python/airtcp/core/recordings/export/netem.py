"""Commands of tc for a router between both ends."""

from airtcp.core.recordings.export.pipe import Direction, Pipe, said_of_queue
from airtcp.core.recordings.recording import DOWN, UP

_STEP_S = 1.0
"""A rate that changes is set anew so often: a shell does not keep finer time."""


def exported(pipe: Pipe) -> tuple[dict[str, bytes], list[str]]:
    """Files by name, and notes."""
    notes = list(pipe.notes)
    lines = [
        "#!/bin/sh",
        f"# {pipe.name}: on the machine between both ends, as root.",
        "# link.netem.sh DOWN_DEVICE UP_DEVICE: towards the mobile, and away from it.",
        "set -eu; down=${1:?the device towards the mobile}; up=${2:?the device away from it}",
    ]
    changes = []
    for way in (DOWN, UP):
        one = pipe.ways[way]
        lines.append(f'tc qdisc replace dev "${way}" root {_netem(one, one.mean_bps)}')
        notes += said_of_queue(way, one, ())
        if one.trace is not None:
            rates = one.rates(_STEP_S)
            steps = " ".join(str(max(round(bps), 8000)) for bps in rates)
            changes.append(
                f"while :; do for bps in {steps}; do\n"
                f'  tc qdisc change dev "${way}" root {_netem(one, None)} rate "${{bps}}bit"\n'
                f"  sleep {_STEP_S:g}\ndone; done &"
            )
            notes.append(
                f"The rate of the direction {way} is set each {_STEP_S:g} s: faster changes are "
                "averaged, an outage is 8 kbit/s, and the loop drifts by the time that tc takes."
            )
        if one.delays:
            notes.append(f"Delays of the direction {way} change with time: netem has their median.")
        model = one.loss_model.get("model", "iid")
        if model in {"block", "bit-error"}:
            notes.append(f'Losses of the direction {way} are "{model}": netem has their mean.')
    notes.append(
        "netem's limit holds for packets that wait and those in the delay: both are counted."
    )
    if changes:
        lines += [*changes, "trap 'kill $(jobs -p)' INT TERM; wait"]
    return {"link.netem.sh": ("\n".join(lines) + "\n").encode()}, notes


def _netem(one: Direction, bps: float | None) -> str:
    mean = one.mean_bps
    waiting = one.queue_packets
    if waiting is None:
        waiting = max(1, (one.queue_bytes or 150_000) // 1500)
    in_delay = 10_000 if mean is None else round(one.delay_s * mean / 12_000)
    words = [f"netem limit {waiting + in_delay}", f"delay {1e3 * one.delay_s:.6g}ms"]
    loss = one.loss_model
    if loss.get("model") == "gilbert-elliott":
        values = (
            loss["good_to_bad"],
            loss["bad_to_good"],
            loss.get("loss_in_bad", 1),
            loss.get("loss_in_good", 0),
        )
        words.append("loss gemodel " + " ".join(f"{100 * float(one):.6g}%" for one in values))
    elif one.loss:
        words.append(f"loss {100 * one.loss:.6g}%")
    if bps is not None:
        words.append(f"rate {round(bps)}bit")
    return " ".join(words)
