"""Every target of `airtcp export`; a new one is a module and a row."""

from collections.abc import Callable
from pathlib import Path

from airtcp._core import Scenario, ScenarioError
from airtcp.core.recordings.export import cellreplay, mahimahi, netem, ns3
from airtcp.core.recordings.export.pipe import Pipe, pipe_of

TARGETS: dict[str, Callable[[Pipe], tuple[dict[str, bytes], list[str]]]] = {
    "netem": netem.exported,
    "mahimahi": mahimahi.exported,
    "cellreplay": cellreplay.exported,
    "ns-3": ns3.exported,
}


def export_link(scenario: Scenario, target: str, folder: Path) -> tuple[list[Path], list[str]]:
    """Writes a scenario's link for another program.

    Returns:
        the files, and notes on features that the target lacks.

    Raises:
        ScenarioError: no such target, or the scenario's link is no pipe.
        OSError: a file cannot be written.
    """
    if target not in TARGETS:
        raise ScenarioError(f"--as {target}: expected one of {', '.join(TARGETS)}")
    pipe = pipe_of(scenario)
    files, notes = TARGETS[target](pipe)
    if target != "cellreplay" and any(one.light for one in pipe.ways.values()):
        notes.append("Not exported: opportunities after a pause (link.trace.light).")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        if name.endswith(".sh"):
            path.chmod(0o755)
        written.append(path)
    return written, list(dict.fromkeys(notes))
