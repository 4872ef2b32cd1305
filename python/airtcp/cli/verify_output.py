"""Output of `airtcp verify`: the verdict and the tables of each kernel, or first differences."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from airtcp.cli.console import command_line, print_lines
from airtcp.cli.unwritten import AnswerFirst
from airtcp.core.bpf import with_program_names
from airtcp.kernel.parting import FlowParting
from airtcp.kernel.runs import Measurement
from airtcp.kernel.under_load import probes_of
from airtcp.kernel.verify import Verification
from airtcp.pages.columns import numbers


def give_verifications(
    found: Sequence[tuple[str, Verification]], folder: Path | None, *, is_json: bool
) -> None:
    """Writes the reports into the folder, and prints the answers, kernel by kernel."""
    written = AnswerFirst()
    for number, (kernel, verification) in enumerate(found):
        inside = folder / f"kernel-{kernel}" if folder and len(found) > 1 else folder
        if number and not is_json:
            print()
        written.give(
            inside,
            partial(verification.report, command=command_line()),
            partial(_json_object, verification) if is_json else None,
            partial(_print, verification),
        )
    written.finish()


def print_partings(found: Iterable[FlowParting], seed: int) -> None:
    """Prints first differences, each as soon as it is found."""
    for one in found:
        name = with_program_names(one.remedy) or "baseline"
        print(f"{name}, seed {seed}, flow {one.flow}, kernel {one.kernel}:")
        print_lines(one.parting.lines())
        print()


def _print(verification: Verification) -> None:
    from airtcp.kernel.in_guest import outside_guest
    from airtcp.pages.verification import counts_table, effects_table, probes_table

    print_lines(verification.verdict)
    for shown in (
        effects_table(verification),
        probes_table(verification),
        counts_table(verification),
    ):
        if shown.rows:
            print(f"\n{numbers(shown.columns, shown.rows, shown.names)}")
    for remedy in verification.remedies[1:]:
        steps = verification.measured[remedy][0]["steps"]
        if steps:
            words = outside_guest("; ".join(steps), remedy)
            print(f"\n{with_program_names(remedy)}: {words}")


def _run_object(run: Measurement) -> dict[str, object]:
    """A run of the kernel; its probes have the same fields as in a simulation."""
    return {**run} if "under_load" not in run else {**run, "under_load": probes_of(run)}


def _json_object(verification: Verification, page: Path | None) -> dict[str, object]:
    return {
        "kernel": verification.kernel,
        "seeds": list(verification.seeds),
        "verdict": verification.verdict,
        "remedies": [
            {
                "remedy": remedy,
                "kernel": [_run_object(run) for run in verification.measured[remedy]],
                "simulated_goodput_bps": verification.simulated.values(remedy, "goodput_bps"),
            }
            for remedy in verification.remedies
        ],
        "report": None if page is None else str(page),
    }
