"""Output of `airtcp diagnose` for a capture or a ping log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.cli.console import print_lines
from airtcp.pages.columns import numbers

if TYPE_CHECKING:
    from airtcp.cli.progress import Report
    from airtcp.diagnosis.capture import Capture
    from airtcp.diagnosis.link_file import DiagnosedLink
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.pages.tables import Table

_MAX_ROWS = 12
_MAX_FLOWS = 20


class FactsFirst:
    """Prints the facts of an answer as soon as they are known, and the rest after the trials.

    Args:
        report: the progress of the work, which makes room for the facts.
        is_text: whether the answer is text; JSON is printed once, whole.
        has_files: whether the answer is written to files, too: an error of standard output waits
            until they are, and ends the work at once if there are none.
    """

    def __init__(self, report: "Report", *, is_text: bool, has_files: bool) -> None:
        self._report, self._is_text, self._has_files = report, is_text, has_files
        self._printed: list[str] = []
        self._error: OSError | None = None

    def flows(self, capture: "Capture") -> None:
        """Prints the table of a capture's flows, if there are several.

        Raises:
            OSError: standard output cannot be written, and there are no files.
        """
        if self._is_text and len(capture.tables.flows) > 1:
            with self._deferred():
                _print_flows(capture)
                print(flush=True)

    def facts(self, sentences: list[str]) -> None:
        """Prints the first sentences of the answer.

        Raises:
            OSError: standard output cannot be written, and there are no files.
        """
        if self._is_text and sentences:
            with self._deferred():
                self._print(sentences)
                self._printed = sentences

    def rest(self, sentences: list[str]) -> None:
        """Prints the whole answer but for the facts that are printed already.

        Raises:
            OSError: standard output cannot be written, or could not for the facts.
        """
        if self._error is not None:
            raise self._error
        self._print(_without(self._printed, sentences))

    @contextmanager
    def _deferred(self) -> Iterator[None]:
        """Makes room for output, and keeps its error if there are files to be written."""
        self._report.clear()
        try:
            yield
        except OSError as error:
            if not self._has_files:
                raise
            self._error = self._error or error

    def _print(self, sentences: list[str]) -> None:
        print_lines(sentences)
        sys.stdout.flush()


def _without(printed: list[str], sentences: list[str]) -> list[str]:
    """The sentences after the printed ones; the last of these may be the start of a sentence."""
    rest = list(sentences)
    for one in printed:
        if not rest or not rest[0].startswith(one):
            # Rather twice than not at all.
            return sentences
        behind = rest.pop(0).removeprefix(one).lstrip()
        if behind:
            rest.insert(0, behind)
    return rest


def print_diagnosis(diagnosis: "Diagnosis | PingDiagnosis", first: FactsFirst) -> None:
    """The sentences, the remedies and the deployment of the best."""
    from airtcp.diagnosis.ping_result import PingDiagnosis

    first.rest(diagnosis.sentences)
    if not isinstance(diagnosis, PingDiagnosis) and diagnosis.phases:
        from airtcp.pages.diagnosis_tables import phases_table

        print()
        _print_table(phases_table(diagnosis.phases), _MAX_ROWS)
    shown = _remedies(diagnosis)
    if shown is not None and shown.rows:
        print()
        _print_table(shown, _MAX_ROWS)
    if diagnosis.deployment:
        print()
        print_lines(diagnosis.deployment)


def print_link(found: "DiagnosedLink", first: FactsFirst) -> None:
    """A file's facts about a link, the remedies on it, and how the best is deployed."""
    from airtcp.pages.tables import deciding_table

    first.rest(found.sentences)
    print()
    _print_table(deciding_table(found.comparison), _MAX_ROWS)
    if found.deployment:
        print()
        print_lines(found.deployment)


def _print_flows(capture: "Capture") -> None:
    from airtcp.pages.diagnosis_tables import flows_table

    _print_table(flows_table(capture.tables.flows), _MAX_FLOWS)


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
    print(numbers(shown.columns, shown.rows[:most], shown.names))
    if len(shown.rows) > most:
        print(f"and {len(shown.rows) - most} more")


def diagnosis_json(diagnosis: "Diagnosis | PingDiagnosis", page: Path | None) -> dict[str, object]:
    """The diagnosis as `--json` prints it."""
    from airtcp.diagnosis.as_json import of_capture, of_ping
    from airtcp.diagnosis.ping_result import PingDiagnosis

    found = of_ping(diagnosis) if isinstance(diagnosis, PingDiagnosis) else of_capture(diagnosis)
    return found | {"report": None if page is None else str(page)}
