"""Man pages and completion files: a page for each command, nothing that roff or bash minds."""

import subprocess
import sys
from pathlib import Path

import pytest

from airtcp.cli.commands import COMMANDS
from airtcp.cli.lazy import FORMER

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import man_pages  # noqa: E402

sys.path.remove(str(ROOT / "packaging"))

LISTED = [name for name, one in COMMANDS.items() if one.section != FORMER]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    # Commands on real packets print their own help, which takes airtcp-net.
    plain = {name: one for name, one in COMMANDS.items() if not one.passed_on}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(man_pages, "COMMANDS", plain)
        return dict(man_pages.pages())


def test_every_command_has_a_page_and_its_options_are_there(pages: dict[str, str]) -> None:
    for name in LISTED:
        if COMMANDS[name].passed_on:
            continue
        page = pages[f"airtcp-{name}.1"]
        assert f"airtcp\\-{name.replace('-', chr(92) + '-')} (1)" in pages["airtcp.1"]
        for option in COMMANDS[name].load(name).params:
            if option.param_type_name == "option" and not option.hidden:
                assert option.opts[0].replace("-", "\\-") in page, option.name
    assert not any(name in page for name in ("remedies.1", "schema.1") for page in pages)


@pytest.mark.needs("groff")
def test_roff_has_nothing_to_warn_of(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
        told = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
        assert not told.stderr, f"{name}: {told.stderr}"


@pytest.mark.parametrize("hostile", [".TH", "a\\b", "'s", "-x", "é"])
def test_a_line_stays_text(hostile: str) -> None:
    escaped = man_pages.escaped(hostile)
    assert escaped.isascii()
    assert not escaped.startswith((".", "'"))
    assert "\\b" not in escaped


def test_completions_are_those_of_three_shells(tmp_path: Path) -> None:
    for shell, name in man_pages.COMPLETIONS.items():
        man_pages.write_completion(tmp_path, shell)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert f"_AIRTCP_COMPLETE=complete_{shell}" in text
    bash = tmp_path / man_pages.COMPLETIONS["bash"]
    subprocess.run(["bash", "-n", bash], check=True)
