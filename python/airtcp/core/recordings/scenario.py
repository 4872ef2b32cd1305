"""A file about a link where a scenario is expected: its link, imported."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from airtcp._core import Scenario
from airtcp.core.recordings.choices import Choices


def recorded_scenario(path: Path, settings: Sequence[tuple[str, str]]) -> Scenario:
    """The link of a recording as a scenario with settings over it.

    Raises:
        ScenarioError: it is no link by itself, or no rate is among the settings where one is
            needed.
    """
    from airtcp.core.recordings.imported import import_link

    given = dict(settings)
    rate = given.get("link.rate")
    direction = given.get("flows.direction")
    chosen = Choices(rate=rate, direction=direction if direction in {"up", "down"} else None)
    # The core reads the files of a scenario once.
    with TemporaryDirectory(prefix="airtcp-") as held:
        link = import_link([path], chosen).link
        link.write(Path(held))
        return Scenario.parse(link.toml, str(path), held, settings)
