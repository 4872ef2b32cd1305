"""Output of `airtcp diagnose` for a capture or a ping log."""

from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.cli.console import out, print_lines
from airtcp.pages.columns import numbers

if TYPE_CHECKING:
    from airtcp.diagnosis.link_file import DiagnosedLink
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.pages.tables import Table

_MAX_ROWS = 12
_MAX_FLOWS = 20


def print_diagnosis(diagnosis: "Diagnosis | PingDiagnosis") -> None:
    """The sentences, the remedies and the deployment of the best."""
    from airtcp.diagnosis.ping_result import PingDiagnosis

    if not isinstance(diagnosis, PingDiagnosis) and len(diagnosis.capture.tables.flows) > 1:
        _print_flows(diagnosis)
        out.print()
    print_lines(diagnosis.sentences)
    if not isinstance(diagnosis, PingDiagnosis) and diagnosis.phases:
        from airtcp.pages.diagnosis_tables import phases_table

        out.print()
        _print_table(phases_table(diagnosis.phases), _MAX_ROWS)
    shown = _remedies(diagnosis)
    if shown is not None and shown.rows:
        out.print()
        _print_table(shown, _MAX_ROWS)
    if diagnosis.deployment:
        out.print()
        print_lines(diagnosis.deployment)


def print_link(found: "DiagnosedLink") -> None:
    """A file's facts about a link, the remedies on it, and how the best is deployed."""
    from airtcp.pages.tables import deciding_table

    print_lines(found.sentences)
    out.print()
    _print_table(deciding_table(found.comparison), _MAX_ROWS)
    if found.deployment:
        out.print()
        print_lines(found.deployment)


def _print_flows(diagnosis: "Diagnosis") -> None:
    from airtcp.pages.diagnosis_tables import flows_table

    _print_table(flows_table(diagnosis.capture.tables.flows), _MAX_FLOWS)


def _remedies(diagnosis: "Diagnosis | PingDiagnosis") -> "Table | None":
    """The table of the remedies, if any were tried."""
    from airtcp.diagnosis.ping_result import PingDiagnosis

    if isinstance(diagnosis, PingDiagnosis):
        if diagnosis.comparison is None:
            return None
        from airtcp.pages.tables import goodput_table

        return goodput_table(diagnosis.comparison)
    from airtcp.pages.diagnosis_tables import trials_table

    return None if diagnosis.trials is None else trials_table(diagnosis.trials)


def _print_table(shown: "Table", most: int) -> None:
    out.print(numbers(shown.columns, shown.rows[:most], shown.names), markup=False, highlight=False)
    if len(shown.rows) > most:
        out.print(f"and {len(shown.rows) - most} more", highlight=False)


def diagnosis_json(diagnosis: "Diagnosis | PingDiagnosis", page: Path | None) -> dict[str, object]:
    """The diagnosis as `--json` prints it."""
    from airtcp.diagnosis.as_json import of_capture, of_ping
    from airtcp.diagnosis.ping_result import PingDiagnosis

    found = of_ping(diagnosis) if isinstance(diagnosis, PingDiagnosis) else of_capture(diagnosis)
    return found | {"report": None if page is None else str(page)}
