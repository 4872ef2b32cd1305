"""The pages that continue a paper: each is followed literally, from its text only."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "guides").glob("continue-*.md"))
MAX = 30
"""Lines of a scenario or study, so that it is read at a glance."""

_FILE = re.compile(r"^`(\S+\.toml)`(?:.*?):$|`(\S+\.toml)` in the same folder:$", re.MULTILINE)
_TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_each_of_the_five_papers_has_a_page() -> None:
    papers = {"rto-factor", "delay-injection", "newzag", "dynamic-arq", "wsc-tcp"}
    assert {page.stem.removeprefix("continue-") for page in PAGES} == papers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text("utf-8")
    (given,) = _TOML.findall(text)
    assert given.count("\n") <= MAX
    (name,) = (first or second for first, second in _FILE.findall(text))
    (tmp_path / name).write_text(given, encoding="utf-8")
    # Files of the page are next to it: the reader's trace, the paper's scenario.
    trace = "rtt_ms\n" + "".join(f"{80 + 40 * (n % 7)}\n" for n in range(400))
    (tmp_path / "mine.csv").write_text(trace, encoding="utf-8")
    for scenario in (ROOT / "papers" / page.stem.removeprefix("continue-")).glob("*.toml"):
        if f'"{scenario.name}"' in given:
            shutil.copy(scenario, tmp_path)
    monkeypatch.chdir(tmp_path)
    (commands,) = _SHELL.findall(text)
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "airtcp"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{command}\n{done.output}"
