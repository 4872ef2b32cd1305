"""A dropped capture: the link fitted by its diagnosis, and its findings."""

from dataclasses import dataclass
from pathlib import Path

from airtcp._core import CaptureError, ScenarioError
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture


@dataclass(frozen=True)
class FittedCapture:
    """The files of a link, and sentences."""

    files: dict[str, bytes]
    """The scenario, `link.toml`, and its other files."""
    found: list[str]
    """Findings; the refusal first if no remedy can be judged."""
    refusal: str
    """Why no remedy can be judged on this link; empty if remedies can be judged."""


def fit(path: Path) -> FittedCapture:
    """Fits a link to the flow of a capture with most bytes; the ranking is left to the page.

    Raises:
        ScenarioError: the capture cannot be read, or no link can be fitted, with the reason.
        RunError: a simulation could not be finished.
    """
    try:
        diagnosis = diagnosed(read_capture(path, None, None), can=None)
    except CaptureError as error:
        raise ScenarioError(str(error).replace(str(path), path.name)) from None
    written = diagnosis.scenario
    if written is None:
        raise ScenarioError(f"{path.name}: no link can be fitted: {' '.join(diagnosis.sentences)}")
    files = {"link.toml": written.toml.encode()}
    files |= {name: text.encode() for name, text in written.files.items()}
    # The first sentence is about remedies, which were not tried; it only matters as a refusal.
    is_refused = bool(diagnosis.refusals) or diagnosis.is_full
    refusal = diagnosis.headline if is_refused else ""
    found = diagnosis.sentences if is_refused else diagnosis.sentences[1:]
    return FittedCapture(files, list(found), refusal)
