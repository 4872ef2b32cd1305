"""A capture that was dropped: the link that its diagnosis fits to it, and what that found."""

from dataclasses import dataclass
from pathlib import Path

from airtcp._core import CaptureError, ScenarioError
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import diagnosed


@dataclass(frozen=True)
class FittedCapture:
    """The files of a link, and sentences."""

    files: dict[str, bytes]
    """The scenario, `link.toml`, and what it names."""
    found: list[str]
    """Sentences on it; where no remedy is to be judged, the refusal first."""
    refusal: str
    """Why no remedy is to be judged on this link; empty where it may be."""


def fit(path: Path) -> FittedCapture:
    """Fits a link to the flow of a capture with most bytes; ranks nothing, the page compares.

    Raises:
        ScenarioError: the capture cannot be read, or no link can be fitted, and why.
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
    # The first sentence is of remedies, of which none was tried: it matters where it says why.
    is_refused = bool(diagnosis.refusals) or diagnosis.is_full
    refusal = diagnosis.headline if is_refused else ""
    found = diagnosis.sentences if is_refused else diagnosis.sentences[1:]
    return FittedCapture(files, list(found), refusal)
