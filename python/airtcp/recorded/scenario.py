"""A ping log in place of a scenario: replays its link."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from airtcp import _core
from airtcp._core import Scenario, ScenarioError


def is_ping_log(path: Path) -> bool:
    """Whether a file is a ping log in any format of the registry, rather than a scenario."""
    if path.suffix == ".toml" or not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        return "numbers" in _core.read_recording(path)
    except ScenarioError:
        return False


def ping_scenario(path: Path, settings: Sequence[tuple[str, str]]) -> Scenario:
    """The link of a log as a scenario, with settings applied.

    Raises:
        ScenarioError: too few probes were answered, or no rate is among the settings.
    """
    from airtcp.recorded.events import find_events
    from airtcp.recorded.link import played_link
    from airtcp.recorded.log import read_ping

    log = read_ping(path)
    if log.refusal:
        raise ScenarioError(f"{path}: {log.refusal}")
    rate = dict(settings).get("link.rate")
    if rate is None:
        raise ScenarioError(
            f'{path}: a ping shows no rate: give one, --set "link.rate=20 Mbit/s", or let '
            f"`airtcp diagnose {path}` try a range"
        )
    # The core reads the files of a scenario once.
    with TemporaryDirectory(prefix="airtcp-") as held:
        link = played_link(log, find_events(log), rate)
        link.write(Path(held))
        return Scenario.parse(link.toml, str(path), held, settings)
