"""A link as a file that others can run: the scenario, with the recordings that it names."""

import io
import json
import zipfile
from pathlib import Path

from airtcp._core import ScenarioError
from airtcp.lab.filenames import named_files
from airtcp.lab.requests import OneSide
from airtcp.lab.sources import Sources


def scenario_file(sources: Sources, request: OneSide) -> tuple[str, bytes]:
    """The name and content of a file with every key written out: TOML, or a ZIP with recordings.

    Raises:
        ScenarioError: the link is wrong, or a recording cannot be read.
    """
    chosen = sources.scenario(request.source, request.settings, request.remedy)
    scenario, text = chosen.scenario, chosen.scenario.to_toml()
    folder = sources.file(request.source).parent
    recordings: dict[str, Path] = {}
    for _, name in named_files(chosen.document):
        path = folder / name
        plain = path.name
        if recordings.get(plain, path) != path:
            raise ScenarioError(f"{name}: two recordings of that name cannot go into one file")
        recordings[plain] = path
        text = text.replace(json.dumps(name), json.dumps(plain))
    if not recordings:
        return f"{scenario.name}.toml", text.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{scenario.name}.toml", text)
        for plain, path in recordings.items():
            try:
                archive.writestr(plain, path.read_bytes())
            except OSError as error:
                raise ScenarioError(f"{plain}: {error.strerror}") from None
    return f"{scenario.name}.zip", packed.getvalue()
